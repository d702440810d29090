# -*- coding: utf-8 -*-
"""The raw dialog archive: what left a context, as it was, one message a line, a file a day."""

from ._archive import DialogArchive
from ._identity import message_digest
from ._line import archive_line, message_of, message_record

__all__ = ["DialogArchive", "archive_line", "message_digest", "message_of", "message_record"]

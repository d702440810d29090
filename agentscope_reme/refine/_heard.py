# -*- coding: utf-8 -*-
"""Messages that were heard and not drawn from yet, on disk until they are."""

# -*- coding: utf-8 -*-
"""`python -m agentscope_reme.cli`."""

import sys

from ._main import main

sys.exit(main())

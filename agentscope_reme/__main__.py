# -*- coding: utf-8 -*-
"""`python -m agentscope_reme`: the command line."""

import sys

from .cli import main

sys.exit(main())

# -*- coding: utf-8 -*-
"""Working memory measured beside the installed ReMe: `python -m benchmarks.working_memory --peer-python PATH`."""

# -*- coding: utf-8 -*-
"""How fast notes and dialog are indexed and searched at growing sizes, beside others."""

# -*- coding: utf-8 -*-
"""How fast memories with vectors are stored, searched, listed and opened again at growing sizes, beside others."""

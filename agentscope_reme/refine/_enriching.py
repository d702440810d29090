# -*- coding: utf-8 -*-
"""What a new memory is worth and what it is about: importance, category, tags and entities."""

# -*- coding: utf-8 -*-
"""New memories beside those that there are: near copies, contradictions and additions, settled on record."""

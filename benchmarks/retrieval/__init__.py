# -*- coding: utf-8 -*-
"""How well memories are found: recall, MRR and nDCG of the product's own search on public data, beside others."""

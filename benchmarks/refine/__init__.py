# -*- coding: utf-8 -*-
"""What refinement saves and what it costs: tokens kept, and evidence inside a thousand tokens, before and after."""

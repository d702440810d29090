# -*- coding: utf-8 -*-
"""What is said, taken down as it is said: stored at once where a user asks for it, and drawn from when rules say so."""

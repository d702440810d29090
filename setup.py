# -*- coding: utf-8 -*-
"""Everything is in setup.cfg; this file is for the tools that still look for it."""

from setuptools import setup

setup()

"""Theorems as programs: hand-set weights that run, and the checks that hold them to their statements.

Reference: Wen, Dang & Lyu (2024), Sections 4 and 5, https://arxiv.org/abs/2402.18510
"""

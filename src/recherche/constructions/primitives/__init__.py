"""What single parts of a layer can compute: attention heads, linear units, feed-forward units.

Reference: Wen, Dang & Lyu (2024), Appendix C.1, https://arxiv.org/abs/2402.18510
"""

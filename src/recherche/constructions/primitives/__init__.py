"""What single parts of a layer can compute: attention heads, linear units, feed-forward units."""

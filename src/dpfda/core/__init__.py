"""What every room uses: errors, exact JSON, files, labels, checks of arguments."""

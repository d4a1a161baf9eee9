"""What JupyterLab, its server and nbconvert load; notebooks never do."""

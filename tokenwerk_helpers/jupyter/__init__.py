"""What JupyterLab loads: its settings and the prompt websocket."""

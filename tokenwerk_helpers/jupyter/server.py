"""The kernel's websocket without a stall of 40 ms; JupyterLab loads this module, notebooks never do.

With its settings untouched, the server waits before each small second message until the browser has
acknowledged the first (Nagle's algorithm), and the browser holds that acknowledgement back for about 40 ms
(delayed ACK). A slider that answers within a frame then needs three for every other answer. To lift it where
JupyterLab is started by hand, give it the option

    --ServerApp.kernel_websocket_connection_class=tokenwerk_helpers.jupyter.server.PromptWebsocketConnection
"""

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptWebsocketConnection(ZMQChannelsWebsocketConnection):
    """Send every message of the kernel to the browser at once (TCP_NODELAY)."""

    def connect(self):
        """Connect as usual, with Nagle's algorithm switched off for this websocket."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()

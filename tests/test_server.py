"""The server's side of a live view: prompt, quiet, and alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tokenwerk_helpers.jupyter import server

ROOT = Path(__file__).parents[1]
CONFIG = f"--config={ROOT / 'tokenwerk_helpers' / 'jupyter' / 'jupyter_lab_config.py'}"
CHOICE = "--ServerApp.kernel_websocket_connection_class="
USUAL = CHOICE + "jupyter_server.services.kernels.connection.channels.ZMQChannelsWebsocketConnection"
PROMPT = CHOICE + "tokenwerk_helpers.jupyter.server.PromptWebsocketConnection"

# In a process of its own, since a server is a singleton that handles signals: starts a Jupyter server, opens
# a kernel's websocket as a browser does, and prints TCP_NODELAY of the server's end of that connection.
PROBE = """
import gc, json, socket, sys
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import websocket_connect

async def probe():
    base = f"127.0.0.1:{app.port}/api/kernels"
    answer = await AsyncHTTPClient().fetch(f"http://{base}", method="POST", body="{}")
    kernel = json.loads(answer.body)["id"]
    browser = await websocket_connect(f"ws://{base}/{kernel}/channels?session_id=probe")
    request = {"channel": "shell", "content": {}, "metadata": {}, "parent_header": {}, "buffers": [],
               "header": {"msg_id": "1", "session": "probe", "username": "", "version": "5.3",
                          "msg_type": "kernel_info_request", "date": ""}}
    await browser.write_message(json.dumps(request))
    await browser.read_message()
    (server,) = [found for found in gc.get_objects() if isinstance(found, ZMQChannelsWebsocketConnection)]
    stream = server.websocket_handler.ws_connection.stream
    print("NODELAY", bool(stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
    browser.close()
    app.stop()

app = ServerApp.instance()
app.initialize(sys.argv[1:], find_extensions=False)
app.io_loop.add_callback(probe)
app.start()
"""


def sends_at_once(folder: Path, *options: str) -> bool:
    """Is TCP_NODELAY set on a live kernel websocket of a server with these options?"""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = ["--no-browser", "--port=0", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]
    own += ["--allow-root", "--log-level=ERROR", f"--ServerApp.root_dir={folder}"]
    result = subprocess.run(
        [sys.executable, "-c", PROBE, *options, *own],
        cwd=folder,
        env=os.environ | {name: str(folder / name.lower()) for name in names},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "NODELAY" in result.stdout, result.stderr
    return "NODELAY True" in result.stdout


def test_the_project_s_jupyterlab_sends_kernel_messages_at_once(tmp_path):
    assert sends_at_once(tmp_path, CONFIG)


def test_a_server_started_by_hand_sends_at_once_with_the_documented_option(tmp_path):
    assert PROMPT in server.__doc__
    assert sends_at_once(tmp_path, PROMPT)


def test_without_the_option_the_server_holds_messages_back(tmp_path):
    """When this fails, the server has learnt it by itself and `server.py` can go."""
    assert not sends_at_once(tmp_path, USUAL)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")
def test_make_lab_starts_jupyterlab_with_the_tested_configuration():
    plan = subprocess.run(["make", "-n", "lab"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "jupyterlab --config=tokenwerk_helpers/jupyter/jupyter_lab_config.py" in plan.stdout

# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-community serve, and a client of it."""
import http.client
import json
import re
import signal
import subprocess


class Server:
    """with Server(PROGRAM, DATABASE, *MORE) as server: ... @before: what its process does before it starts."""

    def __init__(self, program, database, *more, before=None):
        self.before = before
        self.words = [program, "serve", "--database", database, "--listen", "127.0.0.1:0", *more]
        self.said = []

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stderr=subprocess.PIPE, text=True, preexec_fn=self.before)
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r", port (\d+)", line)
            if found:
                self.port = int(found.group(1))
                return self
        raise RuntimeError("".join(self.said))

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.stop()

    def stop(self, number=signal.SIGTERM):
        """Its exit code, and all that it said."""
        self.process.send_signal(number)
        self.said += self.process.stderr.readlines()
        return self.process.wait(), "".join(self.said)

    def ask(self, method, path, body=None, token=None, **headers):
        """Status, answer (a dict, or text), and the answer's headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if token:
            headers["Authorization"] = "Bearer " + token
        connection.request(method, "/some/place" + path, body,
                           {key.replace("_", "-"): value for key, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.getheader("Content-Type") == "application/json":
            text = json.loads(text)
        return answer.status, text, answer.headers

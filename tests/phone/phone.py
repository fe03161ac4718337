# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual phone as an object: boots in QEMU, runs commands inside, loses its power."""
import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import threading
import time

PROCESSOR = "max,vendor=GenuineIntel,family=6,model=60,stepping=3"  # another vendor's has no fast switching or no TSC
BOOT_S = 180
BOOT_TRY_S = 60  # with both CPUs at once a phone is up after 9 to 17


class PhoneError(Exception):
    pass


class PhoneLate(PhoneError):
    """A time limit passed: also what a machine that is too busy for a phone does."""


class Job:
    """A command in the phone: its output as it comes, and its exit code."""

    def __init__(self, phone, number, script):
        self.phone, self.number, self.script = phone, number, script
        self.output = b""
        self.code = None
        self.ended = threading.Event()

    def wait(self, timeout):
        """The exit code; an exception if it takes longer or the phone is gone."""
        end = time.monotonic() + timeout
        while not self.ended.wait(min(1, max(0, end - time.monotonic()))):
            if not self.phone.is_on():
                raise PhoneError("the phone went off during: %s" % self.script.strip()[:200])
            if time.monotonic() >= end:
                self.kill()
                raise PhoneLate("not done after %.0f s: %s\n%s" % (timeout, self.script.strip()[:200],
                                                                   self.text()[-2000:]))
        return self.code

    def kill(self):
        self.phone.send(b"%d 0\n" % self.number)

    def text(self):
        return self.output.decode("utf-8", "replace")


def connect(path):
    """A socket that is there is not yet one that is listened at."""
    for _ in range(100):
        try:
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            return client
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise PhoneError("nobody answers at " + path)


class Monitor:
    """QEMU's own control socket (QMP)."""

    def __init__(self, path):
        self.socket = connect(path)
        self.socket.settimeout(10)
        self.file = self.socket.makefile("rw", encoding="utf-8")
        self.lock = threading.Lock()
        json.loads(self.file.readline())
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        with self.lock:
            self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            self.file.flush()
            while True:
                answer = json.loads(self.file.readline())
                if "return" in answer:
                    return answer["return"]
                if "error" in answer:
                    raise PhoneError("QEMU, %s: %s" % (command, answer["error"]["desc"]))


class Physics:
    """The program that is the phone's hardware. It holds the truth; what it drained is asked here, never in the
    phone."""

    def __init__(self, program, device, *arguments):
        self.program, self.device, self.arguments = program, device, arguments
        self.process = self.socket = None

    def power_on(self, phone):
        control = phone.path("control")
        for name in ("qtest", "qmp-physics"):
            phone.wait_for_socket(name)
        if os.path.exists(control):
            os.unlink(control)
        log = open(phone.path("physics.log"), "ab")
        self.process = subprocess.Popen(
            [self.program, "--device", self.device, "--qtest", phone.path("qtest"), "--qmp", phone.path("qmp-physics"),
             "--radio", phone.path("air.jsonl"), "--control", control, "--state", phone.path("charge"),
             *self.arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=be_hardware)
        self.socket = connect(phone.wait_for_socket("control"))
        self.socket.settimeout(20)
        self.file = self.socket.makefile("rw", encoding="utf-8")

    def ask(self, command, **arguments):
        try:
            self.file.write(json.dumps({"cmd": command, **arguments}) + "\n")
            self.file.flush()
            answer = json.loads(self.file.readline() or "null")
        except (OSError, ValueError) as error:
            raise PhoneError("the physics, asked for %s: %s" % (command, error))
        if answer is None or "error" in answer:
            raise PhoneError("the physics, asked for %s: %s" % (command, answer))
        return answer

    def set(self, **values):
        return self.ask("set", **values)

    def power_off(self):
        if self.process and self.process.poll() is None:
            try:
                self.process.wait(5)  # it ends when QEMU does, and puts its control groups away
            except subprocess.TimeoutExpired:
                self.process.terminate()
                self.process.wait()
        self.process = None


class Phone:
    def __init__(self, root, folder, kernel="new", physics=None, accelerator="tcg,thread=multi", cpus="2", options=()):
        self.root, self.folder = root, folder
        self.kernel = kernel if os.path.exists(os.path.join(root, "vmlinuz-" + kernel)) else "stable"
        self.accelerator, self.cpus, self.options = accelerator, cpus, options
        self.physics = physics
        self.disk = self.path("root.qcow2")
        self.process = self.monitor = self.agent = None
        self.jobs, self.number = {}, 0
        self.boots = 0
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def new_disk(self):
        """As it was made: what is written goes beside the image. QEMU keeps the map of it in memory until the phone
        flushes, so that a power cut loses what was not flushed, as a real disk's cache does."""
        if os.path.exists(self.disk):
            os.unlink(self.disk)
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b",
                        os.path.join(self.root, "root.img"),
                        self.disk], check=True)

    def command(self):
        at = self.path
        return ["qemu-system-x86_64", "-M", "q35", "-accel", self.accelerator, "-cpu", PROCESSOR, "-smp", self.cpus,
                "-m", "1024", "-name", "phone,debug-threads=on", "-display", "none", "-nodefaults", "-no-reboot",
                "-serial", "file:" + at("console-%d.log" % self.boots),
                "-qmp", "unix:%s,server=on,wait=off" % at("qmp"),
                "-qmp", "unix:%s,server=on,wait=off" % at("qmp-physics"),
                "-qtest", "unix:%s,server=on,wait=off" % at("qtest"), "-qtest-log", "/dev/null",
                "-device", "pc-testdev", "-acpitable", "file=" + os.path.join(self.root, "phone.aml"),
                "-device", "VGA,addr=2",
                "-drive", "file=%s,format=qcow2,if=none,id=disk,cache=writeback" % self.disk,
                "-device", "virtio-blk-pci,drive=disk,addr=5",
                "-device", "virtio-serial-pci,addr=6",
                "-chardev", "socket,id=agent,path=%s,server=on,wait=off" % at("agent"),
                "-device", "virtserialport,chardev=agent,name=phone.agent",
                "-chardev", "file,id=air,path=%s" % at("air.jsonl"),
                "-device", "virtserialport,chardev=air,name=phone.air",
                "-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,addr=7",
                "-kernel", os.path.join(self.root, "vmlinuz-" + self.kernel), "-initrd",
                os.path.join(self.root, "initrd-%s.gz" % self.kernel),
                "-append",
                "console=ttyS0 quiet loglevel=4 net.ifnames=0 systemd.show_status=0 no_console_suspend "
                "mitigations=off acpi_backlight=vendor panic=-1 "
                "battery.cache_time=25",  # ms: a second of the driver's, in a phone whose time runs 40 times as fast
                *self.options]

    def boot(self):
        """Returns the seconds until the phone takes commands. Emulated with a thread for each CPU a kernel now and then
        stops before it has a console (4 of some 150 on one host): then once more, as after a power cut."""
        began = time.monotonic()
        try:
            self.power_on()
            self.jobs[0].wait(BOOT_TRY_S if "multi" in self.accelerator else BOOT_S)
        except PhoneError as error:
            print("            it did not boot (%s); once more" % str(error).splitlines()[0], flush=True)
            self.cut_power()
            self.power_on()
            self.jobs[0].wait(BOOT_S)
        return time.monotonic() - began

    def power_on(self):
        if not os.path.exists(self.disk):
            self.new_disk()
        self.boots += 1
        for name in ("qmp", "qmp-physics", "qtest", "agent"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        log = open(self.path("qemu.log"), "ab")
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                        preexec_fn=be_hardware)
        self.monitor = Monitor(self.wait_for_socket("qmp"))
        if self.physics:
            self.physics.power_on(self)
        self.jobs = {0: Job(self, 0, "boot")}
        self.agent = connect(self.wait_for_socket("agent"))
        threading.Thread(target=self.listen, args=(self.agent, self.jobs), daemon=True).start()

    def wait_for_socket(self, name):
        for _ in range(200):
            if os.path.exists(self.path(name)):
                return self.path(name)
            if not self.is_on():
                break
            time.sleep(0.05)
        raise PhoneError("QEMU did not start; %s says why" % self.path("qemu.log"))

    def listen(self, agent, jobs):
        """The thread that hears the agent."""
        with agent.makefile("rb") as file, contextlib.suppress(ConnectionResetError):  # its power is cut
            for line in file:
                words = line.split()
                job = jobs.get(int(words[0])) if len(words) == 3 and words[0].isdigit() else None
                if not job:
                    continue
                if words[1] == b"out":
                    job.output += file.read(int(words[2]))
                else:
                    job.code = int(words[2])
                    job.ended.set()

    def send(self, data):
        try:
            self.agent.sendall(data)
        except OSError as error:
            raise PhoneError("the phone takes no commands: %s" % error)

    def is_on(self):
        return self.process is not None and self.process.poll() is None

    def start(self, script):
        self.number += 1
        job = self.jobs[self.number] = Job(self, self.number, script)
        data = script.encode()
        self.send(b"%d %d\n" % (self.number, len(data)) + data)
        return job

    def run(self, script, timeout=60):
        """(exit code, output) of a shell script in the phone."""
        job = self.start(script)
        return job.wait(timeout), job.text()

    def output(self, script, timeout=60):
        """Its output; an exception if it fails."""
        code, text = self.run(script, timeout)
        if code != 0:
            raise PhoneError("exit %d of: %s\n%s" % (code, script.strip()[:300], text[-2000:]))
        return text

    def write(self, path, text):
        self.output("cat > '%s' <<'END-OF-FILE'\n%s\nEND-OF-FILE" % (path, text.rstrip("\n")))

    def is_real_time(self):
        """False where the clock is the instructions': the phone is many times slower than it believes."""
        return "-icount" not in self.options

    def vcpu_threads(self):
        return [cpu["thread-id"] for cpu in self.monitor.ask("query-cpus-fast")]

    def disk_bytes(self):
        stats = next(device["stats"] for device in self.monitor.ask("query-blockstats")
                     if device.get("device") == "disk")
        return stats["rd_bytes"], stats["wr_bytes"]

    def cut_power(self):
        if self.is_on():
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.physics:
            self.physics.power_off()

    def off(self):
        """Shuts down in order, or by force."""
        if self.is_on():
            try:
                self.start("systemctl poweroff")
                self.process.wait(30)
            except (PhoneError, subprocess.TimeoutExpired):
                print("            it did not go off in 30 s", flush=True)
        self.cut_power()


def be_hardware():
    """Its time is the real one, so it goes before what else runs here."""
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    end_with_parent()


def end_with_parent():
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG

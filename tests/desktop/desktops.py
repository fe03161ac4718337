# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""One function for each desktop: switch the focus, close windows, die and come back."""
import json
import os
import signal
import subprocess
import sys
import time
import wave

from inside import (AGENT, BUILD, PLAYER, RUNTIME, SOURCE, Agent, Service, as_player, check, check_change,
                    check_latency, children,
                    first_file, is_app, is_nobody, is_unknown, run_as_player, session_bus, skip, stop, system_bus,
                    wait_for, write)

WLROOTS = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}


def foot(**env):
    return as_player(["foot", "-T", "secret title", "sleep", "1000"], **env)


def zenity(**env):
    return as_player(["zenity", "--info", "--title", "secret title", "--text", "B"], GDK_BACKEND="wayland", **env)


def xterm(name, **env):
    return as_player(["xterm", "-class", name, "-T", "secret title", "-e", "sleep", "1000"], **env)


def x_server(display=":77"):
    server = as_player(["Xvfb", display, "-screen", "0", "800x600x24", "-noreset", "-nolisten", "tcp"])
    # Its socket is there a moment before it takes connections.
    wait_for(lambda: "800 600" in run_as_player(["xdotool", "getdisplaygeometry"], DISPLAY=display))
    manager = as_player(["openbox"], DISPLAY=display)
    wait_for(lambda: "window id" in run_as_player(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"], DISPLAY=display), 4)
    return server, manager


def test_x11():
    env = {"DISPLAY": ":77"}
    server, _ = x_server()
    service, agent = Service(), Agent(**env)
    agent.check_chosen("x11")

    def activate(process):
        # The window manager gets the request; the tool itself takes some 10 ms.
        windows = run_as_player(["xdotool", "search", "--all", "--pid", str(process.pid), "--name", "secret"],
                                **env).split()
        return lambda: run_as_player(["xdotool", "windowactivate", windows[-1]], **env)

    one = xterm("Alpha", **env)
    check(service.wait(is_app("debian-xterm")), "a window is the foreground")
    two = as_player(["zenity", "--info", "--text", "B"], **env)
    check(service.wait(is_app("zenity")), "the window after it too")
    check_change(service, "the first window", activate(one), is_app("debian-xterm"))
    agent.check_idle()
    check_change(service, "the second after the first was closed", lambda: stop(one), is_app("zenity"))
    check_change(service, "nobody after both were closed", lambda: stop(two), is_nobody)
    check_latency()
    check_change(service, "the server's death", lambda: stop(server, signal.SIGKILL), is_unknown)
    if os.path.exists("/tmp/.X11-unix/X77"):
        os.unlink("/tmp/.X11-unix/X77")  # a killed server leaves it
        os.unlink("/tmp/.X77-lock")
    x_server()
    xterm("Gamma", **env)
    check(service.wait(is_app("debian-xterm"), 20), "it came back")
    check("secret" not in agent.log(), "no title in the log")


def sway(config=""):
    write("/tmp/sway.conf", "xwayland disable\noutput HEADLESS-1 resolution 800x600\n" + config)
    for name in os.listdir(RUNTIME):
        if name.startswith(("sway-ipc", "wayland-")):
            os.unlink(os.path.join(RUNTIME, name))
    compositor = as_player(["sway", "-c", "/tmp/sway.conf"], **WLROOTS)
    ipc = wait_for(first_file(RUNTIME, "sway-ipc.", ".sock"))
    display = wait_for(first_file(RUNTIME, "wayland-", ""))
    return compositor, {"SWAYSOCK": ipc, "WAYLAND_DISPLAY": os.path.basename(display)}


def swaymsg(env, command):
    return lambda: run_as_player(["swaymsg", command], **env)


def sway_windows(service, agent, env):
    one = foot(**env)
    check(service.wait(is_app("foot")), "a window is the foreground")
    two = zenity(**env)
    check(service.wait(is_app("zenity")), "the window after it too")
    check_change(service, "the first window", swaymsg(env, '[app_id="foot"] focus'), is_app("foot"))
    check_change(service, "the second window", swaymsg(env, '[app_id="zenity"] focus'), is_app("zenity"))
    check_change(service, "an empty workspace", swaymsg(env, "workspace 2"), is_nobody)
    check_change(service, "the workspace with windows", swaymsg(env, "workspace 1"), is_app("zenity"))
    agent.check_idle()
    check_change(service, "the first after the second was closed", lambda: stop(two), is_app("foot"))
    check_change(service, "nobody after both were closed", lambda: stop(one), is_nobody)
    check_latency()


def test_sway():
    compositor, env = sway()
    service, agent = Service(), Agent(**env)
    agent.check_chosen("sway")
    sway_windows(service, agent, env)
    check_change(service, "the compositor's death", lambda: stop(compositor, signal.SIGKILL), is_unknown)
    before = agent.status("voluntary_ctxt_switches")
    time.sleep(2)
    check(agent.status("voluntary_ctxt_switches") - before < 20, "no busy loop while the compositor is dead")
    # A compositor of the same session gets another socket; here the old name is given to the new one.
    os.rename(sway()[1]["SWAYSOCK"], env["SWAYSOCK"])
    foot(**env)
    check(service.wait(is_app("foot"), 10), "it came back")


def test_sway_wlr():
    compositor, env = sway()
    service = Service()
    agent = Agent("--backend", "wlr-foreign-toplevel", **env)
    agent.check_chosen("wlr-foreign-toplevel")
    sway_windows(service, agent, env)
    check_change(service, "the compositor's death", lambda: stop(compositor, signal.SIGKILL), is_unknown)
    sway()
    foot(**env)
    check(service.wait(is_app("foot"), 10), "it came back")


def test_phoc():
    address = session_bus()

    def start():
        for name in os.listdir(RUNTIME):
            if name.startswith("wayland-"):
                os.unlink(os.path.join(RUNTIME, name))
        compositor = as_player(["phoc"], DBUS_SESSION_BUS_ADDRESS=address, **WLROOTS)
        return compositor, os.path.basename(wait_for(first_file(RUNTIME, "wayland-")))

    compositor, display = start()
    env = {"WAYLAND_DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": address}
    service, agent = Service(), Agent(**env)
    agent.check_chosen("wlr-foreign-toplevel")
    one = foot(**env)
    check(service.wait(is_app("foot")), "a window is the foreground")
    two = zenity(**env)
    check(service.wait(is_app("zenity")), "the window after it too")
    agent.check_idle()
    check_change(service, "the first after the second was closed", lambda: stop(two), is_app("foot"))
    check_change(service, "nobody after both were closed", lambda: stop(one), is_nobody)
    check_latency()
    check_change(service, "the compositor's death", lambda: stop(compositor, signal.SIGKILL), is_unknown)
    start()
    foot(**env)
    check(service.wait(is_app("foot"), 10), "it came back")



def kwin(address):
    for name in os.listdir(RUNTIME):
        if name.startswith("wayland-"):
            os.unlink(os.path.join(RUNTIME, name))
    compositor = as_player(["/usr/lib/joulecast-test/kwin_wayland", "--virtual", "--width", "800", "--height", "600",
                            "--no-lockscreen", "--no-global-shortcuts", "--socket", "wayland-9"],
                           KWIN_COMPOSE="Q", DBUS_SESSION_BUS_ADDRESS=address)
    wait_for(lambda: os.path.exists(RUNTIME + "/wayland-9"))
    return compositor


def owned(address, name, bus="--session"):
    return lambda: "true" in run_as_player(["gdbus", "call", bus, "-d", "org.freedesktop.DBus", "-o", "/", "-m",
                                            "org.freedesktop.DBus.NameHasOwner", name],
                                           DBUS_SESSION_BUS_ADDRESS=address,
                                           DBUS_SYSTEM_BUS_ADDRESS=address)


def test_kwin():
    address = session_bus()
    env = {"WAYLAND_DISPLAY": "wayland-9", "DBUS_SESSION_BUS_ADDRESS": address}
    compositor = kwin(address)
    wait_for(owned(address, "org.kde.KWin"))
    service, agent = Service(), Agent(**env)
    agent.check_chosen("kwin")
    one = zenity(**env)
    check(service.wait(is_app("zenity")), "a window is the foreground")
    two = as_player(["weston-terminal", "--shell=/bin/sh"], **env)
    check(service.wait(is_app("weston-terminal")), "the window after it too")
    agent.check_idle()
    check_change(service, "the first after the second was closed", lambda: stop(two), is_app("zenity"))
    check_change(service, "nobody after both were closed", lambda: stop(one), is_nobody)
    check_latency()
    forged = run_as_player(["sh", "-c", "gdbus call --session -d org.joulecast.Focus -o /org/joulecast/Focus -m "
                            "org.joulecast.Focus.Window 1 evil evil 2>&1 || true"], DBUS_SESSION_BUS_ADDRESS=address)
    check("AccessDenied" in forged, "nobody but the desktop is believed")
    check_change(service, "the compositor's death", lambda: stop(compositor, signal.SIGKILL), is_unknown)
    kwin(address)
    zenity(**env)
    check(service.wait(is_app("zenity"), 12), "it came back")


def gnome(address, system):
    for name in os.listdir(RUNTIME):
        if name.startswith("wayland-"):
            os.unlink(os.path.join(RUNTIME, name))
    shell = as_player(["gnome-shell", "--headless", "--wayland", "--no-x11", "--virtual-monitor", "800x600",
                       "--wayland-display", "wayland-8"],
                      DBUS_SESSION_BUS_ADDRESS=address, DBUS_SYSTEM_BUS_ADDRESS=system, XDG_SESSION_TYPE="wayland")
    wait_for(owned(address, "org.gnome.Shell"))
    return shell


def leave_overview(env):
    """The shell begins with its overview, where no window has the focus; its object comes later than its name."""
    return "()" in run_as_player(["sh", "-c", "gdbus call --session -d org.gnome.Shell -o /org/gnome/Shell -m "
                                  "org.freedesktop.DBus.Properties.Set org.gnome.Shell OverviewActive '<false>' || "
                                  "true"], **env)


def leaves_overview(service, env):
    """A busy shell shows its overview only after it was told to leave it, so it is told until zenity has the focus."""
    return wait_for(lambda: leave_overview(env) and service.wait(is_app("zenity"), 0.5), 10)


def test_gnome():
    system, address = system_bus(), session_bus()
    version = subprocess.run(["gnome-shell", "--version"], capture_output=True, text=True).stdout.split()[-1]
    syntax = "45" if int(version.split(".")[0]) >= 45 else "43"
    with open("%s/data/gnome-extension/%s/metadata.json" % (SOURCE, syntax), encoding="utf-8") as file:
        extension_id = json.load(file)["uuid"]
    extension = RUNTIME + "/data/gnome-shell/extensions/" + extension_id
    run_as_player(["mkdir", "-p", os.path.dirname(extension), RUNTIME + "/config"])
    run_as_player(["cp", "-r", "%s/data/gnome-extension/%s" % (SOURCE, syntax), extension])
    env = {"WAYLAND_DISPLAY": "wayland-8", "DBUS_SESSION_BUS_ADDRESS": address}

    def setting(key, value):
        run_as_player(["gsettings", "set", "org.gnome.shell", key, value], **env)
    setting("welcome-dialog-last-shown-version", "99")
    setting("disable-user-extensions", "false")
    shell = gnome(address, system)
    service, agent = Service(), Agent(**env)
    agent.check_chosen("gnome (after its extension focus@joulecast, or before GNOME 45 focus43@joulecast, is enabled)")
    check_change(service, "the extension, switched on", lambda: setting("enabled-extensions", "['%s']" % extension_id),
                 lambda state: state["known"], 10)
    one = zenity(**env)
    check(leaves_overview(service, env), "a window is the foreground")
    two = as_player(["weston-terminal", "--shell=/bin/sh"], **env)
    check(service.wait(is_app("weston-terminal")), "the window after it too")
    agent.check_idle()
    check_change(service, "the first after the second was closed", lambda: stop(two), is_app("zenity"))
    check_change(service, "nobody after both were closed", lambda: stop(one), is_nobody)
    check_latency()
    check_change(service, "the extension, switched off", lambda: setting("enabled-extensions", "[]"), is_unknown, 10)
    check_change(service, "and on again", lambda: setting("enabled-extensions", "['%s']" % extension_id),
                 lambda state: state["known"], 10)
    others = []
    check_change(service, "our name, taken by another session's agent", lambda: others.append(as_player(
        [AGENT, "--backend", "gnome", "--socket", "/tmp/none"], **dict(env, XDG_RUNTIME_DIR="/tmp/other"))),
                 is_unknown, 10)
    check_change(service, "and free again", lambda: stop(others[0]), lambda state: state["known"], 10)
    check_change(service, "the compositor's death", lambda: stop(shell, signal.SIGKILL), is_unknown)
    gnome(address, system)
    zenity(**env)
    check(leaves_overview(service, env), "it came back")


def cage():
    for name in os.listdir(RUNTIME):
        if name.startswith("wayland-"):
            os.unlink(os.path.join(RUNTIME, name))
    compositor = as_player(["cage", "--", "foot", "sleep", "1000"], **WLROOTS)
    display = os.path.basename(wait_for(first_file(RUNTIME, "wayland-")))
    wait_for(lambda: subprocess.run(["pgrep", "-x", "foot"], capture_output=True).stdout)
    return compositor, display


def polled(service, wanted, seconds=8):
    """No event tells of a client, and it connects when it likes: the service polls until the agent saw it."""
    def poll():
        service.poll()
        return service.wait(wanted, 0.5)
    return wait_for(poll, seconds)


def test_cage():
    """A kiosk whose compositor tells nothing: its only client is the app. It is looked at when the service polls."""
    compositor, display = cage()
    service, agent = Service(), Agent(WAYLAND_DISPLAY=display)
    agent.check_chosen("wayland-clients")
    check(polled(service, is_app("foot")), "the only client is the foreground")
    agent.check_idle()
    other = foot(WAYLAND_DISPLAY=display)
    check(polled(service, is_unknown), "two clients cannot be told apart")
    stop(other)
    check(polled(service, is_app("foot")), "one is left")
    check_change(service, "the compositor's death", lambda: stop(compositor, signal.SIGKILL), is_unknown)
    check(cage()[1] == display, "it starts again with the same socket")
    check(polled(service, is_app("foot"), 12), "it came back")


def atoms(env, **values):
    """Sets what gamescope sets on its root window; its own type is CARDINAL."""
    for name, value in values.items():
        run_as_player(["xprop", "-root", "-f", "GAMESCOPE_" + name, "32c", "-set", "GAMESCOPE_" + name, str(value)],
                      **env)


def test_gamescope():
    """gamescope's atoms, set by hand on an X server: the session that Debian has wants a GPU (see
    test_gamescope_itself)."""
    env = {"DISPLAY": ":77"}
    server, _ = x_server()
    one, two = xterm("Alpha", **env), as_player(["zenity", "--info"], **env)
    service = Service()
    atoms(env, FOCUSABLE_WINDOWS="11,413150,%d,12,620,%d" % (one.pid, two.pid), FOCUSED_WINDOW=11, FOCUSED_APP=413150)
    agent = Agent(**env)
    agent.check_chosen("gamescope")
    check(service.wait(is_app("steam:413150")), "a game is the foreground")
    check_change(service, "another game", lambda: atoms(env, FOCUSED_WINDOW=12, FOCUSED_APP=620), is_app("steam:620"))
    agent.check_idle()
    check_change(service, "nobody", lambda: atoms(env, FOCUSED_WINDOW=0, FOCUSED_APP=0), is_nobody)
    check_latency()
    check_change(service, "the server's death", lambda: stop(server, signal.SIGKILL), is_unknown)
    os.unlink("/tmp/.X11-unix/X77")
    os.unlink("/tmp/.X77-lock")
    x_server()
    atoms(env, FOCUSED_WINDOW=13, FOCUSED_APP=440)
    check(service.wait(is_app("steam:440"), 10), "it came back")


def test_gamescope_itself():
    """The real one, in a window of an X server, as far as software Vulkan carries it."""
    server, _ = x_server()
    compositor = as_player(["gamescope", "-w", "640", "-h", "480", "--", "xterm", "-e", "sleep", "1000"], DISPLAY=":77",
                           SDL_VIDEODRIVER="x11")
    inner = wait_for(lambda: [name for name in os.listdir("/tmp/.X11-unix") if name != "X77"], 6)
    if not inner or compositor.poll() is not None:
        with open("/tmp/gamescope.log", encoding="utf-8", errors="replace") as file:
            words = file.read().strip().splitlines()
        skip("gamescope does not run here: " + (words[-1] if words else "no word"))
    service, agent = Service(), Agent(DISPLAY=":" + inner[0][1:])
    agent.check_chosen("gamescope")
    check(service.wait(is_app("debian-xterm")), "its app is the foreground")
    check_change(service, "the compositor's death", lambda: stop(compositor, signal.SIGKILL), is_unknown)


def mock(address, template):
    return as_player(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", template], log="mock-" + template,
                     DBUS_SYSTEM_BUS_ADDRESS=address)


def mocked(address, path, method, *arguments):
    return run_as_player(["gdbus", "call", "--system", "-d", "org.freedesktop.login1", "-o",
                          "/org/freedesktop/login1" + path, "-m",
                          "org.freedesktop.DBus.Mock." + method, *arguments], DBUS_SYSTEM_BUS_ADDRESS=address)


def set_property(address, path, interface, name, value):
    run_as_player(["gdbus", "call", "--system", "-d", "org.freedesktop.login1", "-o",
                   "/org/freedesktop/login1" + path, "-m",
                   "org.freedesktop.DBus.Properties.Set", "org.freedesktop.login1." + interface, name, "<%s>" % value],
                  DBUS_SYSTEM_BUS_ADDRESS=address)


def session_says(address, **properties):
    def say():
        for name, value in properties.items():
            set_property(address, "/session/c1", "Session", name, value)
    return say


def test_logind():
    """Locked, asleep, another user's session, a greeter: then nothing, or nobody that is believed, is in the
    foreground."""
    address = system_bus()
    mock(address, "logind")
    mock(address, "upower")
    wait_for(owned(address, "org.freedesktop.login1", "--system"))
    wait_for(lambda: mocked(address, "", "AddSession", "c1", "seat0", str(PLAYER.pw_uid), "player", "true"))
    set_property(address, "/seat/seat0", "Seat", "ActiveSession",
                 "('c1', objectpath '/org/freedesktop/login1/session/c1')")
    session_says(address, Class="'user'", User="(uint32 %d, objectpath '/u')" % PLAYER.pw_uid)()
    _, env = sway()
    service, agent = Service(DBUS_SYSTEM_BUS_ADDRESS=address), Agent(**env)
    agent.check_chosen("sway")
    foot(**env)
    check(service.wait(is_app("foot")), "a window is the foreground")
    check_change(service, "nobody while it is locked", session_says(address, LockedHint="true"), is_nobody)
    check_change(service, "the window, unlocked", session_says(address, LockedHint="false"), is_app("foot"))

    def sleeping(going):
        return lambda: mocked(address, "", "EmitSignal", "org.freedesktop.login1.Manager", "PrepareForSleep", "b",
                              "[<%s>]" % going)
    check_change(service, "nobody while it sleeps", sleeping("true"), is_nobody)
    check_change(service, "the window, awake", sleeping("false"), is_app("foot"))
    check_change(service, "unknown while another user has the seat",
                 session_says(address, User="(uint32 4712, objectpath '/u')"),
                 is_unknown)
    check_change(service, "the window, back",
                 session_says(address, User="(uint32 %d, objectpath '/u')" % PLAYER.pw_uid), is_app("foot"))
    check_change(service, "nobody at a greeter", session_says(address, Class="'greeter'"), is_nobody)
    check_change(service, "the window, logged in", session_says(address, Class="'user'"), is_app("foot"))
    check_latency(settle_ms=0)
    agent.check_idle()
    with open("/proc/%d/status" % service.process.pid, encoding="utf-8") as file:
        before = [line for line in file if line.startswith("voluntary")]
    time.sleep(2)
    with open("/proc/%d/status" % service.process.pid, encoding="utf-8") as file:
        check(before == [line for line in file if line.startswith("voluntary")],
              "the service does not wake while nothing changes")


def test_udev():
    """A backlight and a connector that are not there, by umockdev: a hotkey is heard at once, blanking at the poll."""
    script = SOURCE + "/tests/desktop/mock-backlight.py"
    result = subprocess.run(["umockdev-wrapper", "/usr/bin/python3", script], capture_output=True, text=True,
                            timeout=30)
    print(result.stdout, end="")
    check(result.returncode == 0, "the mocked backlight", result.stderr[-500:])


def write_sound(path):
    """Half a minute of silence, which PipeWire plays as any other sound."""
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 48000 * 30))


def pipewire(env):
    """The daemon, its session manager and its server for PulseAudio's clients, with two sinks: one is like a card
    of ALSA."""
    for name in "seats", "sessions", "users", "machines":
        os.makedirs("/run/systemd/" + name, exist_ok=True)  # else WirePlumber ends
    daemons = [as_player([name], **env) for name in ("pipewire", "wireplumber", "pipewire-pulse")]
    check(wait_for(lambda: os.path.exists(RUNTIME + "/pipewire-0") and os.path.exists(RUNTIME + "/pulse/native")),
          "PipeWire runs")
    for name, more in ("card", "device.api=alsa"), ("nowhere", ""):
        run_as_player(["pw-cli", "create-node", "adapter", "{ factory.name=support.null-audio-sink node.name=%s "
                       "media.class=Audio/Sink object.linger=true audio.position=[ MONO ] %s }" % (name, more)], **env)
    return daemons


def plays(*players, others=0):
    wanted = sorted(player.pid for player in players)
    return lambda state: state["what"] == "sound" and state["pids"] == wanted and state["others"] == others


def runs(player, env):
    """Whether PipeWire says that its stream does."""
    def look():
        things = json.loads(run_as_player(["pw-dump"], **env) or "[]")
        mine = [thing["id"] for thing in things if thing["type"].endswith(":Client") and
                thing["info"]["props"].get("pipewire.sec.pid") == player.pid]
        return [thing for thing in things if thing["type"].endswith(":Node") and thing["info"]["state"] == "running" and
                thing["info"]["props"].get("client.id") in mine]
    return look


def test_pipewire():
    """Streams belong to the programs that play, whether they speak to PipeWire or PulseAudio, while a card runs."""
    env = {"DBUS_SESSION_BUS_ADDRESS": session_bus(), "DISPLAY": ":77"}
    write_sound("/tmp/sound.wav")
    x_server()
    service, agent = Service(), Agent(**env)
    agent.check_chosen("x11")
    daemons = pipewire(env)
    unheard = as_player(["pw-play", "--target", "nowhere", "/tmp/sound.wav"], **env)
    check(wait_for(runs(unheard, env)), "sound that goes nowhere plays")
    native = as_player(["pw-play", "--target", "card", "/tmp/sound.wav"], **env)
    check(service.wait(lambda state: state["what"] == "sound", 15), "something is heard")
    check(plays(unheard, native)(service.last), "while a card runs", service.last)
    stop(unheard)
    check(service.wait(plays(native)), "pw-play is heard", service.last)
    pulse = as_player(["paplay", "--device=card", "/tmp/sound.wav"], **env)
    check(service.wait(plays(native, pulse), 15), "paplay beside it", service.last)
    stop(native, signal.SIGKILL)
    check(service.wait(plays(pulse)), "pw-play ended", service.last)
    agent.check_idle()
    stop(pulse)
    check(service.wait(plays()), "all is quiet", service.last)
    recorder = as_player(["pw-record", "--target", "card", "-P", "{ stream.capture.sink=true }", "/tmp/heard.wav"],
                         **env)
    check(service.wait(plays(recorder), 15), "pw-record is heard", service.last)
    stop(daemons[0])
    check(service.wait(plays()), "the daemon ended", service.last)
    for process in [recorder, *daemons]:
        stop(process)
    daemons = pipewire(env)
    native = as_player(["pw-play", "--target", "card", "/tmp/sound.wav"], **env)
    check(service.wait(plays(native), 30), "another daemon is found", service.last)
    stop(agent.process)
    check(service.wait(plays()), "the agent ended", service.last)


BAR = """[{"name": "bar", "layer": "top", "height": 60, "modules-center": ["custom/joulecast"], "custom/joulecast":
{"exec": "/usr/bin/python3 %s/examples/waybar-joulecast | tee /tmp/waybar-joulecast.out",
"return-type": "json"}}]""" % SOURCE
# The same text is the same pixels: another one changes the picture of the bar.
BAR_STYLE = "* { font-size: 40px; color: #ffffff; background: #000000; }"


def battery(percent):
    path = "/tmp/machine/sys/class/power_supply/BAT0/"
    os.makedirs("/tmp/machine/proc", exist_ok=True)
    write(path + "type", "Battery\n")
    write(path + "new",
          "POWER_SUPPLY_NAME=BAT0\nPOWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=Discharging\nPOWER_SUPPLY_PRESENT=1\n"
          "POWER_SUPPLY_CAPACITY=%d\nPOWER_SUPPLY_POWER_NOW=2000000\nPOWER_SUPPLY_VOLTAGE_NOW=3800000\n"
          "POWER_SUPPLY_ENERGY_NOW=%d\nPOWER_SUPPLY_ENERGY_FULL=16000000\n" % (percent, 160000 * percent))
    os.rename(path + "new", path + "uevent")


def shown():
    """The last line that waybar got."""
    with open("/tmp/waybar-joulecast.out", encoding="utf-8") as file:
        lines = file.read().splitlines()
    return json.loads(lines[-1]) if lines else {"text": ""}


def picture(env):
    """The pixels of the bar."""
    run_as_player(["grim", "-t", "ppm", "-g", "0,0 800x60", "/tmp/bar.ppm"], **env)
    with open("/tmp/bar.ppm", "rb") as file:
        return file.read()


def test_waybar():
    """The example module in the real waybar: it shows the time left, and another when the battery has changed."""
    address = system_bus()
    subprocess.run([BUILD + "/predict/joulecast", "simulate", "--device",
                    "virtual:%s/data/virtual/nexus-7.ini" % SOURCE, "--scenario",
                    SOURCE + "/tests/data/afternoon.ini", "--database", "/tmp/usage.db"], check=True)
    subprocess.run([sys.executable, "-c",
                    "import usage_db; usage_db.change('/tmp/usage.db', 'PRAGMA application_id = 0x4a4f554c')"],
                   check=True, cwd=SOURCE + "/tests/fixture")  # as if this machine had recorded it
    battery(20)
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = address
    service = subprocess.Popen([BUILD + "/poller/joulecastd", "--database", "/tmp/usage.db", "--machine",
                                "/tmp/machine", "--interval",
                                "0.5", "--socket", "/tmp/joulecast.sock", "--profile",
                                SOURCE + "/data/virtual/nexus-7.ini", "--bus"])
    children.append(service)
    wait_for(lambda: owned(address, "org.joulecast1", "--system"), 20)
    _, env = sway()
    write("/tmp/waybar.json", BAR)
    write("/tmp/waybar.css", BAR_STYLE)
    empty = picture(env)
    as_player(["waybar", "-c", "/tmp/waybar.json", "-s", "/tmp/waybar.css"], DBUS_SYSTEM_BUS_ADDRESS=address,
              DBUS_SESSION_BUS_ADDRESS=session_bus(), GDK_BACKEND="wayland", **env)
    first = wait_for(lambda: os.path.exists("/tmp/waybar-joulecast.out") and "h" in shown()["text"] and shown(), 30)
    check(first, "the module says", first)
    if not first:
        return
    before = wait_for(lambda: len(set(picture(env))) > 2 and picture(env), 20)
    check(before and before != empty, "waybar shows it")
    battery(19)  # a usual step: a longer fall would be held back for three minutes
    changed = wait_for(lambda: shown()["text"] != first["text"] and "19 %" in shown()["tooltip"] and shown(), 20)
    check(changed, "after a change of the battery the module says", changed)
    check(wait_for(lambda: picture(env) not in (before, empty), 20), "waybar shows that")
    service.terminate()
    gone = wait_for(lambda: shown()["text"] == "" and shown(), 20)
    check(gone, "without the service it says", gone)

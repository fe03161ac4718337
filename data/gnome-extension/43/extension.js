// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reports to joulecast-focus which app has the focus: its pid, its id and whether the session is locked. Never a title.
// For GNOME Shell 42 to 44; the folder beside this one is for 45 and later.

const {Gio, GLib, Shell} = imports.gi;
const Main = imports.ui.main;

const NAME = 'org.joulecast.Focus';
const PATH = '/org/joulecast/Focus';

let watch = 0;
let focusChanged = 0;
let modeChanged = 0;

function appId(window) {
    const app = Shell.WindowTracker.get_default().get_window_app(window);
    const id = app ? app.get_id() : '';
    // "window:N" is the Shell's own name for a window that no desktop entry claims.
    return id && !id.startsWith('window:') ? id.replace(/\.desktop$/, '') : window.get_wm_class() || '';
}

function call(method, parameters) {
    Gio.DBus.session.call(NAME, PATH, NAME, method, parameters, null, Gio.DBusCallFlags.NO_AUTO_START, -1, null, null);
}

function report() {
    const window = global.display.focus_window;
    const locked = Main.sessionMode.isLocked || Main.sessionMode.isGreeter;
    const shown = window && !locked;
    call('Focus', new GLib.Variant('(isb)', [shown ? window.get_pid() : 0, shown ? appId(window) : '', locked]));
}

function init() {
}

function enable() {
    watch = Gio.bus_watch_name(Gio.BusType.SESSION, NAME, Gio.BusNameWatcherFlags.NONE, report, null);
    focusChanged = global.display.connect('notify::focus-window', report);
    modeChanged = Main.sessionMode.connect('updated', report);
}

function disable() {
    Gio.bus_unwatch_name(watch);
    global.display.disconnect(focusChanged);
    Main.sessionMode.disconnect(modeChanged);
    watch = focusChanged = modeChanged = 0;
    call('Unknown', null);
}

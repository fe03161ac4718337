// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reports to joulecast-focus which app has the focus: its pid, its id and whether the session is locked. Never a title.
// For GNOME Shell 45 and later; the folder beside this one is for those before.

import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Shell from 'gi://Shell';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';

const NAME = 'org.joulecast.Focus';
const PATH = '/org/joulecast/Focus';

function appId(window) {
    const id = Shell.WindowTracker.get_default().get_window_app(window)?.get_id() ?? '';
    // "window:N" is the Shell's own name for a window that no desktop entry claims.
    return id && !id.startsWith('window:') ? id.replace(/\.desktop$/, '') : window.get_wm_class() ?? '';
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

export default class JoulecastFocus extends Extension {
    enable() {
        this._watch = Gio.bus_watch_name(Gio.BusType.SESSION, NAME, Gio.BusNameWatcherFlags.NONE, report, null);
        this._focusChanged = global.display.connect('notify::focus-window', report);
        this._modeChanged = Main.sessionMode.connect('updated', report);
    }

    disable() {
        Gio.bus_unwatch_name(this._watch);
        global.display.disconnect(this._focusChanged);
        Main.sessionMode.disconnect(this._modeChanged);
        call('Unknown', null);
    }
}

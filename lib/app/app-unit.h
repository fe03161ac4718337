/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The app that a cgroup path names, by the XDG rules for units (systemd.io/DESKTOP_ENVIRONMENTS). Reads no files. */

#include "source/sample.h"

enum cgroup_kind {
        CGROUP_NONE,      /* names no app: no service manager, or an unknown one */
        CGROUP_SYSTEM,    /* a system service: "sys:NAME" */
        CGROUP_CONTAINER, /* "ctr:NAME" */
        CGROUP_ANDROID,   /* Waydroid: the uid is the app */
        CGROUP_APP,       /* an app's own unit */
        CGROUP_SNAP,      /* "snap:NAME" */
        CGROUP_USER,      /* any other service of a user: "usr:NAME" */
        CGROUP_SESSION,   /* a login session: what was not moved to a unit of its own */
        CGROUP_SPAWN,     /* started in a terminal; id: the terminal's, if known */
};

struct cgroup_app {
        enum cgroup_kind kind;
        char id[APP_ID_MAX];
        char launcher[64];     /* of an app: "gnome", "flatpak", ...; "" if the name has none */
        char whole[APP_ID_MAX]; /* launcher-id: the id if it has a '-' that was not escaped */
        bool autostart_service; /* without a random part, so the last word belongs to the id */
};

/* Parses a unit's name. false: it names no app; @ret's kind is not changed. */
bool app_unit_parse(const char *unit, struct cgroup_app *ret);

/* @path: as in /proc/PID/cgroup. */
void app_cgroup_parse(const char *path, struct cgroup_app *ret);

/*
 * Chooses the path in the text of /proc/PID/cgroup: of the unified hierarchy "0::", or if that is empty (hybrid
 * setup) of name=systemd, elogind or openrc. 0; -ENODATA.
 */
int app_cgroup_choose_path(const char *text, char *ret, size_t size);

/* Is this a launcher or desktop that puts its name before the id? */
bool app_unit_launcher_known(const char *launcher);

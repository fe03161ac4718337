/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The app that a cgroup's path names, by the XDG rules for units
 * (systemd.io/DESKTOP_ENVIRONMENTS), as far as text alone tells. Pure: no file is read.
 */

#include "source/sample.h"

enum cgroup_kind {
        CGROUP_NONE,      /* says nothing: no service manager, or one that we do not know */
        CGROUP_SYSTEM,    /* a system service: "sys:NAME" */
        CGROUP_CONTAINER, /* "ctr:NAME" */
        CGROUP_ANDROID,   /* Waydroid: the uid is the app */
        CGROUP_APP,       /* an app's own unit */
        CGROUP_SNAP,      /* "snap:NAME" */
        CGROUP_USER,      /* another service of a user: "usr:NAME" */
        CGROUP_SESSION,   /* a login session: everything that nobody moved elsewhere */
        CGROUP_SPAWN,     /* what a terminal started; id is the terminal's, if known */
};

struct cgroup_app {
        enum cgroup_kind kind;
        char id[APP_ID_MAX];
        char launcher[64];     /* of an app: "gnome", "flatpak", ...; "" if the name has none */
        char whole[APP_ID_MAX]; /* launcher-id: what the id is if somebody forgot to escape a '-' */
        bool autostart_service; /* no random part was seen, so the last word belongs to the id */
};

/* Reads one unit's name. false: it names no app (its kind stays as it was). */
bool app_unit_parse(const char *unit, struct cgroup_app *ret);

/* The path as in /proc/PID/cgroup. */
void app_cgroup_parse(const char *path, struct cgroup_app *ret);

/*
 * The one path that counts in the text of /proc/PID/cgroup. On a hybrid machine the unified "0::/" is empty
 * and the hierarchy name=systemd (or elogind, openrc) has it. 0; -ENODATA.
 */
int app_cgroup_choose_path(const char *text, char *ret, size_t size);

/* Launchers and desktops that put their name before the id. */
bool app_unit_launcher_known(const char *launcher);

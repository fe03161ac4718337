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
        CGROUP_SESSION,   /* a login session: processes that were not moved to a unit of their own */
        /* named after a start and not an app: a terminal's tab, systemd-run; id: the terminal's, if known */
        CGROUP_SPAWN,
};

struct cgroup_app {
        enum cgroup_kind kind;
        char id[APP_ID_MAX];
        char launcher[APP_ID_MAX]; /* the program that started it: "gnome", "flatpak", ...; "" if the name has none */
        /* launcher-id: the id if it has a '-' that was not escaped; of a container: its hash */
        char whole[APP_ID_MAX];
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

/*
 * A unit's name for people, from @length bytes without its type: without escapes and without parts that change from
 * start to start (instances that are numbers or addresses, pids, hex digits). @ret: APP_ID_MAX bytes; "": nothing
 * remains. false: it was named after one start.
 */
bool app_unit_name(const char *name, size_t length, char *ret);

/* The same including the parts that change: for names of machines and containers, which people choose. */
void app_unit_unescaped(const char *name, size_t length, char *ret);

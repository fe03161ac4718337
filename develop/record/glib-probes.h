/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Probes on the functions of GLib and GIO by which programs pass work on: events of tracefs, removed on closing. */

#include "tracepoints.h"

struct glib_probes {
        int tracefs;    /* -1: there are none */
        char path[256]; /* GLib's file; "": no GLib was found */
        char gio[256];  /* GIO's file, in the folder of GLib's; "": there is none */
};

#define GLIB_PROBES_NONE { .tracefs = -1 }

/*
 * glib_probes_open() - defines the probes in the GLib that programs load here
 * @points: gets an event for each of EVENT_ATTACH to EVENT_POPPED, and if there is a GIO, for those from
 *          EVENT_TASK on
 *
 * 0; -ENOENT: there is no GLib; -EACCES: only root may; -ENOSYS: this kernel has no uprobes, or none for
 * this CPU. In any case close it.
 */
int glib_probes_open(struct glib_probes *probes, struct tracepoints *points);
/* To be called when all who have the probes open have closed them. */
void glib_probes_close(struct glib_probes *probes);

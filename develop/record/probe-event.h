/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Events of tracefs at functions of programs (uprobes). They are the machine's, so each has this process'
 * number in its name.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tracepoints.h"

#define PROBE_EVENT_FORMAT_SIZE 8192

/*
 * probe_event_add() - define an event, or a further place of one that has the same fields
 * @tracefs: of tracepoints_open()
 * @returns: it is where the function returns
 * @fields:  what it fetches, by the kernel's Documentation/trace/uprobetracer.rst
 *
 * 0; -EACCES: only root may; -EINVAL: the kernel takes none there; -ENOENT: it has no such events; another
 * negative errno.
 */
int probe_event_add(int tracefs, const char *name, bool returns, const char *path, uint64_t offset, const char *fields);
/* Its number and the text that says where its fields are. 0; -ENOENT. */
int probe_event_format(int tracefs, const char *name, uint64_t *id, char text[PROBE_EVENT_FORMAT_SIZE]);
/*
 * One whose fields are `value`, `code` too if @code, and what else of struct tracepoint it has, by these
 * names. 0; -ENOENT.
 */
int probe_event_find(int tracefs, const char *name, bool code, struct tracepoint *ret);
/* A text that was fetched from a program, cut to @size; "": there was none. */
const char *probe_event_text(const struct tracepoint_place *field, const char *raw, size_t raw_bytes,
                             char *buf, size_t size);
/* Removes those that killed recordings left. */
void probe_event_remove_left(int tracefs);
/* After it was closed. Also one that is not there. */
void probe_event_remove(int tracefs, const char *name);

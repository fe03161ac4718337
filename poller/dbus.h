/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * org.joulecast1 on the system bus (docs/dbus.md): the questions of the socket, with the same limits, and the
 * state of the device as properties. Without a bus, or while another program owns the name, the service
 * continues and tries again after polls.
 */

#include <poll.h>

#include "answers.h"
#include "source/sample.h"
#include "util/log.h"

struct dbus;

/*
 * @answers and @source must stay valid until dbus_close(). Returns 0; -ENOSYS: built without sd-bus; -ENOMEM.
 */
int dbus_open(struct answers *answers, const struct question_source *source, const struct log *log, struct dbus **ret);
void dbus_close(struct dbus *dbus);

/* The following functions do nothing if @dbus is NULL. */
void dbus_watch(struct dbus *dbus, struct pollfd *fd);
uint64_t dbus_deadline_ns(struct dbus *dbus); /* CLOCK_BOOTTIME; UINT64_MAX: none */
void dbus_serve(struct dbus *dbus, const struct pollfd *fd);
/* Call it after a poll: sends signals for changes, and reconnects to a lost bus. */
void dbus_polled(struct dbus *dbus, const struct battery *battery);

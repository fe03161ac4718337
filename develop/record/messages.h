/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Messages over D-Bus between programs that are recorded: what sent each. A bus gives each connection a
 * unique name, which is the sender of its messages and the destination of those that it gets; a message is
 * known by its sender and its number there. As there may be several buses, and connections of one process,
 * a message also has to have the names with which it was sent.
 */

#include <stdint.h>
#include <sys/types.h>

#include "dbus-header.h"

struct messages;

int messages_new(struct messages **ret); /* 0; -ENOMEM */
void messages_free(struct messages *messages);
/* The thread @tid makes a method call, or a signal, with these names; "": none. 0; -ENOMEM. */
int messages_make(struct messages *messages, pid_t tid, const char *destination, const char *path,
                  const char *interface, const char *member);
/*
 * It sends what it made last; @cause: a number of the causes. Nothing, if it made none since it sent one.
 * 0; -ENOMEM.
 */
int messages_send(struct messages *messages, pid_t pid, pid_t tid, uint32_t serial, uint32_t cause);
/*
 * messages_receive() - a process gets a message from a bus
 * @ret: what sent it; CAUSE_NONE: that is not known, or cannot be told from another one
 *
 * 0; -ENOMEM.
 */
int messages_receive(struct messages *messages, pid_t pid, const struct dbus_header *header, uint32_t *ret);
void messages_forget(struct messages *messages); /* those that were sent: some were not seen */

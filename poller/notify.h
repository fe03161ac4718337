/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tells the service manager how we are ("READY=1", "STOPPING=1"), as sd_notify(3) describes it;
 * nothing where none listens. The protocol is one datagram, and a library for it would double what
 * the service keeps in memory.
 */
void notify_manager(const char *state);

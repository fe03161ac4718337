/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sends "READY=1", "STOPPING=1" or "WATCHDOG=1" to the service manager as sd_notify(3) does, if there is one. Without
 * libsystemd, which would double the memory of a service without sd-bus.
 */
void notify_manager(const char *state);

/* READY=1; and if the manager has a watchdog, it waits for some intervals of @interval_s at least. */
void notify_ready(double interval_s);

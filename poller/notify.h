/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sends "READY=1", "STOPPING=1" or "WATCHDOG=1" to the service manager, if there is one, as sd_notify(3)
 * does. It does not use libsystemd, which would double the memory of a service without sd-bus.
 */
void notify_manager(const char *state);

/* Sends READY=1; a watchdog of the manager is set to some intervals of @interval_s. */
void notify_ready(double interval_s);

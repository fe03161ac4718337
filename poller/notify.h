/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sends "READY=1" or "STOPPING=1" to the service manager as sd_notify(3) does, if there is one. Without libsystemd,
 * which would double the memory of a service without sd-bus.
 */
void notify_manager(const char *state);

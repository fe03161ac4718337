/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Finds the users of the GPS over the system bus: ModemManager reports whether it is on, and geoclue which
 * apps asked for a position, by the desktop ids that the user's agent approved. Also reads the signal of the
 * modem's cell. Neither service is started for this.
 */

#include "source/source.h"

/*
 * @held: gets the users of the GPS; a source of held_open() that must outlive this one. @ret: a source of the modem's
 * signal. Returns 0; -ENODEV: there is no bus; -ENOMEM.
 */
int location_open(struct source *held, struct source **ret);

/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Who uses the GPS, by the system's bus: ModemManager tells whether it is on, geoclue which apps asked for a position,
 * by the desktop ids that the user's agent let in. And how strongly the modem hears its cell. Neither service is started
 * for that.
 */

#include "source/source.h"

/*
 * @held: is told who uses the GPS; of held_open(), and must live longer. @ret: a source of the modem's signal.
 * 0; -ENODEV: there is no bus; -ENOMEM.
 */
int location_open(struct source *held, struct source **ret);

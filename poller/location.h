/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Who uses the GPS, by the system's bus: ModemManager tells whether it is on, geoclue which apps asked for a position.
 * Their programs are not known, only the desktop ids that the user's agent let in. And how strongly the modem hears its
 * cell. Neither is started for that.
 */

#include "source/source.h"

/*
 * A source of the signal. The GPS it passes on to @held (a source of held.h), which must live longer. -ENODEV: there is
 * no bus.
 */
int location_open(struct source *held, struct source **ret);

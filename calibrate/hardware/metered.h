/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether somebody pays for each byte over an interface, as NetworkManager knows it. */

/* 1: yes, or so it guesses; 0: no; -ENODATA: nobody here knows; -ENOSYS: built without libsystemd. */
int metered(const char *interface);

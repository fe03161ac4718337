/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Is traffic over an interface paid by volume, according to NetworkManager? */

/* 1: yes, or probably; 0: no; -ENODATA: unknown; -ENOSYS: built without libsystemd. */
int metered(const char *interface);

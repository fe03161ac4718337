/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JOULECAST_H
#define JOULECAST_H

/*
 * libjoulecast: what an app costs the battery of this device, how long it can
 * run, and what that leaves for what is needed later.
 */

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif

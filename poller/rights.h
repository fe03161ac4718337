/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Gives up, for good, what is only needed to open the sources: CAP_NET_ADMIN, by which the kernel tells of
 * ends of threads (taskstats) and lets packets be counted. What comes from others is read without it.
 */
void rights_give_up(void);

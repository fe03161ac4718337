/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Drops CAP_NET_ADMIN, which is only needed to open sources (taskstats, counting packets). Data of other users is
 * parsed after that.
 */
void rights_give_up(void);

/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The running systemd. All: 0; -ENOSYS: no systemd, or built without it; -errno. */
int schedule_bus_there(void);
int schedule_bus_reload(void);
int schedule_bus_enable(const char *timer);  /* and starts it, after a reload */
int schedule_bus_disable(const char *timer); /* and stops it */

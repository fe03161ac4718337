/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* WiFi interfaces by the kernel's nl80211. The only file that knows libnl. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl80211;

/* -ENODEV: no WiFi in this kernel; -ENOSYS: built without libnl. */
int nl80211_open(struct nl80211 **ret);
void nl80211_close(struct nl80211 *nl); /* NULL is nothing */

/*
 * Is this interface a client of access points? 0; -EOPNOTSUPP: it is an access point, a monitor...; -ENODEV:
 * it does not exist.
 */
int nl80211_is_client(struct nl80211 *nl, const char *interface);

struct nl80211_station {
        bool associated;   /* and authorised to send */
        int signal_dbm;    /* signal of the access point; 0: unknown */
};

/* The access point it is connected to. 0, also without one. */
int nl80211_station(struct nl80211 *nl, const char *interface, struct nl80211_station *ret);

int nl80211_power_save(struct nl80211 *nl, const char *interface, bool *ret);
int nl80211_set_power_save(struct nl80211 *nl, const char *interface, bool on);

/* Parses the attributes of one station; apart from the socket for tests. -EBADMSG. */
int nl80211_parse_station(const void *attributes, size_t length, struct nl80211_station *ret);

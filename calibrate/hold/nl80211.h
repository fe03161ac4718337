/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* WiFi interfaces as the kernel's nl80211 shows them: libnl stops here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl80211;

/* -ENODEV: no WiFi in this kernel; -ENOSYS: built without libnl. */
int nl80211_open(struct nl80211 **ret);
void nl80211_close(struct nl80211 *nl); /* NULL is nothing */

/*
 * Is this interface a client of access points? 0; -EOPNOTSUPP:
 * an access point itself, a monitor...; -ENODEV: none.
 */
int nl80211_is_client(struct nl80211 *nl, const char *interface);

struct nl80211_station {
        bool associated;   /* and authorised: it may send */
        int signal_dbm;    /* of the access point; 0: unknown */
};

/* The access point that it is with. 0, also without one. */
int nl80211_station(struct nl80211 *nl, const char *interface, struct nl80211_station *ret);

int nl80211_power_save(struct nl80211 *nl, const char *interface, bool *ret);
int nl80211_set_power_save(struct nl80211 *nl, const char *interface, bool on);

/*
 * The attributes of one station as the kernel sends them;
 * parsing apart from the socket, for tests. -EBADMSG.
 */
int nl80211_parse_station(const void *attributes, size_t length, struct nl80211_station *ret);

/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* WiFi as a part: which interface (wifi-find.c), and what is done with it (wifi.c). */

#include "hold/nl80211.h"
#include "traffic-load.h"
#include "wifi.h"

struct part_wifi {
        struct part part; /* first */
        const struct log *log;
        int root_fd;
        char interface[32];
        struct nl80211 *nl;
        char radio[96];            /* its rfkill setting; "": it has none, or must stay on */
        char power_save[64];       /* the setting; "" it has none */
        struct settings *settings;
        struct traffic_load *load; /* NULL: no source or peer */
        bool allow_disconnect, has_url, has_peer, perhaps_metered;
        uint64_t carrier_changes;  /* at the last look */
        unsigned wary;             /* looks until the network is known to be the same */
        bool was_up;               /* the interface was up; one that was down is not brought up */
        double limit_bytes;        /* 0 until it is set */
        double moved_bytes;        /* counted against it, by all programs */
        uint64_t counted_bytes;    /* the interface's counter at the last look */
        bool radio_on, loads;      /* as the mode asks */
        bool said_limit, said_lost, said_away, said_metered, said_login;
};

/*
 * Finds the interface and its radio, and opens the load if there is a source or peer. -ENODEV: no interface.
 */
int wifi_find(struct part_wifi *wifi, const struct machine_hardware *machine);

/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* WiFi as a part, in two files: which interface it is (wifi-find.c), and what is done with it (wifi.c). */

#include "hold/nl80211.h"
#include "traffic-load.h"
#include "wifi.h"

struct part_wifi {
        struct part part; /* first */
        const struct log *log;
        int root_fd;
        char interface[32];
        struct nl80211 *nl;
        char radio[96];            /* its switch, a setting; "" it has none, or must stay on */
        char power_save[64];       /* the setting; "" it has none */
        struct settings *settings;
        struct traffic_load *load; /* NULL: there is no other side */
        bool allow_disconnect, has_url, has_peer, perhaps_metered;
        uint64_t carrier_changes;  /* at the last look */
        unsigned wary;             /* for so many looks more: the network may be another one */
        bool was_up;               /* the interface, when this began; one that was down is not brought up */
        double limit_bytes;        /* nothing, until it is told */
        double moved_bytes;        /* of it, by everybody */
        uint64_t counted_bytes;    /* what the interface showed at the last look */
        bool radio_on, loads;      /* as the mode asks */
        bool said_limit, said_lost, said_away, said_metered, said_login;
};

/* Fills the interface, its radio, and the load where there is another side. -ENODEV: there is none. */
int wifi_find(struct part_wifi *wifi, const struct machine_hardware *machine);

/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The traffic of a calibration over one interface, and its limit: of WiFi (wifi.c) and of a modem (cellular.c). */

#include "observation/mode.h"
#include "traffic-load.h"

struct link {
        const struct log *log;
        int root_fd;
        char interface[32];
        enum air air;
        const char *limit_option;
        const char *not_measured;  /* when the limit is reached */
        bool may_cost;             /* the user asked for its traffic, whatever it costs */
        struct traffic_load *load; /* NULL: no source or peer */
        bool loads;                /* the mode has a load on this link ... */
        double bytes_per_s;        /* ... of about this rate */
        double limit_bytes;        /* 0 until it is set */
        double moved_bytes;        /* bytes of all programs that count against the limit */
        uint64_t counted_bytes;    /* the interface's counter at the last look */
        uint64_t carrier_changes;  /* at the last look */
        unsigned wary;             /* looks until the network is known to be the same */
        bool said_limit, said_metered;
};

/* Counts from now on. @where->interface is the link's. As traffic_load_open(). */
int link_open(struct link *link, const struct traffic_where *where);
void link_close(struct link *link);

/* Traffic of @mode over this radio in place of that before; NULL: none. As apply() of a part. */
int link_set(struct link *link, const struct mode *mode);
/* The same, but -ENOTCONN where the network is metered and may not cost. */
int link_begin(struct link *link, const struct mode *mode);
bool link_has_load(const struct link *link, const struct mode *mode);
/* Call it at each look: ends the traffic at its limit, or if the network turns out to be metered. */
void link_check(struct link *link);

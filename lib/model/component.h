/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The one table of the amounts that a device uses: each with the word that names it everywhere (struct member, SQL
 * column, JSON key, CSV column), how it is counted, and the term of the power model that prices it. Samples,
 * intervals, usages, the store, the model, the fit and the answers walk this table. A new amount is a line here
 * and a source that fills it in.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/tuning.h"
#include "util/units.h"

/* Events that a policy counted for an owner, over any part of its CPU time: keys of points. */
enum counted_event {
        COUNTED_CYCLES,
        COUNTED_INSTRUCTIONS,
        COUNTED_MISSES, /* cache events */
        COUNTED_COUNT
};

/* The components of a cost, as in its JSON. */
enum component {
        COMPONENT_CPU,
        COMPONENT_DISPLAY,
        COMPONENT_DISK,
        COMPONENT_WIFI,
        COMPONENT_GPU,
        COMPONENT_CELLULAR,
        COMPONENT_GPS, /* it and the next two are held by apps: on while any app uses them */
        COMPONENT_AUDIO,
        COMPONENT_CAMERA,
        COMPONENT_UNSEEN, /* power of an app that no counter shows, learnt in everyday use */
        COMPONENT_BASE, /* idle and suspended power */
        COMPONENT_COUNT
};

extern const char *const component_names[COMPONENT_COUNT];
/* Finds a component by a name that has exactly @length bytes. -EINVAL: there is none. */
int component_find(const char *name, size_t length);

/* Terms of the power model: each coefficient of a profile belongs to one. The order is the order in the file. */
enum term {
        TERM_BASE,         /* mW     base.power_mw            awake, idle at the lowest operating point */
        TERM_CPU_ACTIVE,   /* mW     cpu.P.active_mw.KHZ      A, per busy core */
        TERM_CPU_SHARED,   /* mW     cpu.P.shared_mw.KHZ      S, while at least one core is busy */
        TERM_CPU_IDLE,     /* mW     cpu.P.idle_mw.KHZ        at that operating point, busy or not, above the lowest */
        TERM_CPU_INSTRUCTIONS, /*    cpu.P.instruction_part    phi (kind.h) */
        TERM_CPU_MISSES,   /*        cpu.P.miss_cycles         mu */
        TERM_DISPLAY,      /* mW     display.power_mw.LEVEL   D */
        TERM_DISK_READ,    /* mJ/MB  disk.read_mj_per_mb or disk.NAME.read_mj_per_mb */
        TERM_DISK_WRITE,   /* mJ/MB */
        TERM_WIFI_ON,      /* mW     wifi.on_mw */
        TERM_WIFI_RX,      /* mJ/MB */
        TERM_WIFI_TX,      /* mJ/MB */
        TERM_WIFI_WAKE,    /* mJ     wifi.wake_mj, per burst */
        /*        wifi.radio                factor on the energy of [radio wifi], in place of the three above */
        TERM_WIFI_RADIO,
        TERM_CELLULAR,     /*        cellular.radio            factor on the energy of [radio cellular] */
        TERM_CELLULAR_RX,  /* mJ/MB  cellular.rx_mj_per_mb     over a modem or a cable; where no radio prices it */
        TERM_CELLULAR_TX,  /* mJ/MB */
        TERM_GPU,          /* mW     gpu.active_mw */
        TERM_GPS,          /* mW     gps.on_mw */
        /* mW     gps.sleep_mw             while no app uses it; without this term, a part of base.power_mw */
        TERM_GPS_SLEEP,
        TERM_AUDIO,        /* mW     audio.on_mw */
        TERM_CAMERA,       /* mW     camera.on_mw */
        TERM_BLUETOOTH,    /* mW     bluetooth.on_mw          while an adapter has a connection */
        TERM_SUSPEND,      /* mW     suspend.power_mw */
        /*        battery.curve.N           a wave of the gauge over its range; prices nothing (joulecast-fit) */
        TERM_CURVE,
        /*        app.N.cpu                 learnt: added to the CPU energy of one app, as a part of it */
        TERM_APP_CPU,
        TERM_APP_DISPLAY,  /*        app.N.display             ... to its display energy */
        /* mW     app.N.front_mw            learnt: drawn while it has the screen, beside all that is counted */
        TERM_APP_FRONT,
        TERM_APP_BEHIND,   /* mW     app.N.behind_mw           ... while it runs behind others */
        /*        wifi.signal.N             learnt: added to the energy of WiFi bytes at -N dBm, as a part of it */
        TERM_WIFI_SIGNAL,
        TERM_COUNT,
        TERM_NONE = TERM_COUNT /* the term of an amount that no coefficient prices */
};

struct term_key {
        const char *section;
        const char *key;
        enum component component;
        const char *unit; /* unit of the coefficient: "mW", "mJ/MB", "mJ", or "" for a factor */
        bool by_policy;   /* [cpu P]; [app N] */
        bool by_point;    /* key.POINT */
        bool by_disk;     /* [disk] or [disk NAME] */
        bool held;        /* it prices a part that apps hold; joulecast's calibration does not measure it */
};

extern const struct term_key term_keys[TERM_COUNT];

/* Bits of `have` in samples, processes and usages: the amount was counted. Without its bit it is unknown, not 0. */
enum usage_have {
        USAGE_CPU = 1 << 0,       /* busy time by policy and frequency */
        USAGE_DISK = 1 << 1,      /* bytes that reached a storage */
        USAGE_WIFI = 1 << 2,      /* bytes and bursts over WiFi */
        USAGE_GPU = 1 << 3,
        USAGE_DISPLAY = 1 << 4,   /* screen time by brightness */
        /* Bytes over interfaces that are neither WiFi nor loopback. */
        USAGE_OTHER_NET = 1 << 5,
        USAGE_PACKETS = 1 << 7,   /* packets of apps; no term prices them yet */
        USAGE_WIFI_WAKES = 1 << 6, /* the machine's own count of bursts; those of processes come with USAGE_WIFI */
        USAGE_GPS = 1 << 8,       /* time it was on, shared by those who held it; so are the next two */
        USAGE_AUDIO = 1 << 9,
        USAGE_CAMERA = 1 << 10,
        USAGE_RADIO = 1 << 11,    /* packets over radios, as amounts that any automaton prices (radio-ladder.h) */
        USAGE_BLUETOOTH = 1 << 12, /* time with a connection, for the whole machine */
};
#define USAGE_HELD (USAGE_GPS | USAGE_AUDIO | USAGE_CAMERA)
#define USAGE_ALL                                                                                                      \
        (USAGE_CPU | USAGE_DISK | USAGE_WIFI | USAGE_GPU | USAGE_DISPLAY | USAGE_OTHER_NET | USAGE_PACKETS |           \
         USAGE_HELD | USAGE_RADIO | USAGE_BLUETOOTH)

/*
 * Amounts that processes have, as totals that only grow:
 *   word, its bit in a process and a usage, its bit in the machine's sample,
 *   the term that prices it, how many are one unit of the term (s, MB or a count),
 *   the rate below which it is the machine's own noise (logs, mail, keepalives) and tells a fit nothing, per s,
 *   by how much the processes' sum may be ahead of the machine's total.
 */
#define OWNER_AMOUNTS(AMOUNT)                                                                                          \
        AMOUNT(read_bytes, USAGE_DISK, USAGE_DISK, TERM_DISK_READ, BYTES_PER_MB, 100e3, TUNING_WRITE_DEBT_BYTES)       \
        AMOUNT(write_bytes, USAGE_DISK, USAGE_DISK, TERM_DISK_WRITE, BYTES_PER_MB, 100e3, TUNING_WRITE_DEBT_BYTES)     \
        AMOUNT(wifi_rx_bytes, USAGE_WIFI, USAGE_WIFI, TERM_WIFI_RX, BYTES_PER_MB, 10e3, 0)                             \
        AMOUNT(wifi_tx_bytes, USAGE_WIFI, USAGE_WIFI, TERM_WIFI_TX, BYTES_PER_MB, 10e3, 0)                             \
        AMOUNT(wifi_wakes, USAGE_WIFI, USAGE_WIFI_WAKES, TERM_WIFI_WAKE, 1, 0.3, 0)                                    \
        AMOUNT(other_rx_bytes, USAGE_OTHER_NET, USAGE_OTHER_NET, TERM_CELLULAR_RX, BYTES_PER_MB, 0, 0)                 \
        AMOUNT(other_tx_bytes, USAGE_OTHER_NET, USAGE_OTHER_NET, TERM_CELLULAR_TX, BYTES_PER_MB, 0, 0)                 \
        AMOUNT(wifi_rx_packets, USAGE_PACKETS, 0, TERM_NONE, 1, 0, 0)                                                  \
        AMOUNT(wifi_tx_packets, USAGE_PACKETS, 0, TERM_NONE, 1, 0, 0)                                                  \
        AMOUNT(other_rx_packets, USAGE_PACKETS, 0, TERM_NONE, 1, 0, 0)                                                 \
        AMOUNT(other_tx_packets, USAGE_PACKETS, 0, TERM_NONE, 1, 0, 0)                                                 \
        AMOUNT(gpu_busy_ns, USAGE_GPU, USAGE_GPU, TERM_GPU, NS_PER_S, 0, 0)                                            \
        AMOUNT(gps_on_ns, USAGE_GPS, USAGE_GPS, TERM_GPS, NS_PER_S, 0, 0)                                              \
        AMOUNT(audio_on_ns, USAGE_AUDIO, USAGE_AUDIO, TERM_AUDIO, NS_PER_S, 0, 0)                                      \
        AMOUNT(camera_on_ns, USAGE_CAMERA, USAGE_CAMERA, TERM_CAMERA, NS_PER_S, 0, 0)

/* Amounts of the whole machine only, 0 in an app's usage; bits and columns as above. interval-base.c makes them. */
#define MACHINE_AMOUNTS(AMOUNT)                                                                                        \
        AMOUNT(time_ns, 0, 0, TERM_BASE, NS_PER_S, 0, 0)                                                               \
        AMOUNT(suspend_ns, 0, 0, TERM_SUSPEND, NS_PER_S, 0, 0)                                                         \
        AMOUNT(wifi_on_ns, USAGE_WIFI, 0, TERM_WIFI_ON, NS_PER_S, 0, 0)                                                \
        AMOUNT(gps_sleep_ns, USAGE_GPS, 0, TERM_GPS_SLEEP, NS_PER_S, 0, 0)                                             \
        AMOUNT(bluetooth_on_ns, USAGE_BLUETOOTH, 0, TERM_BLUETOOTH, NS_PER_S, 0, 0)

#define AMOUNT_ENUM(word, ...) AMOUNT_##word,
enum amount {
        OWNER_AMOUNTS(AMOUNT_ENUM)
        OWNER_AMOUNT_COUNT,
        AMOUNT_BEFORE_MACHINE = OWNER_AMOUNT_COUNT - 1, /* so that the next one has the number of the count above */
        MACHINE_AMOUNTS(AMOUNT_ENUM)
        AMOUNT_COUNT
};

/* The amounts as members of a struct, by their words and as an array. */
#define AMOUNT_MEMBER(word, ...) uint64_t word;
#define OWNER_AMOUNT_MEMBERS                                                                                           \
        union {                                                                                                        \
                uint64_t amount[OWNER_AMOUNT_COUNT];                                                                   \
                struct {                                                                                               \
                        OWNER_AMOUNTS(AMOUNT_MEMBER)                                                                   \
                };                                                                                                     \
        }
#define AMOUNT_MEMBERS                                                                                                 \
        union {                                                                                                        \
                uint64_t amount[AMOUNT_COUNT];                                                                         \
                struct {                                                                                               \
                        OWNER_AMOUNTS(AMOUNT_MEMBER)                                                                   \
                        MACHINE_AMOUNTS(AMOUNT_MEMBER)                                                                 \
                };                                                                                                     \
        }

struct amount_kind {
        const char *word;
        uint32_t have;        /* USAGE_* of a process and a usage; 0: always known */
        uint32_t machine;     /* USAGE_* of a sample; 0: no total of samples */
        enum term term;       /* TERM_NONE: not priced */
        double per_unit;
        double trickle_per_s;
        uint64_t most_debt;
};

extern const struct amount_kind amount_kinds[AMOUNT_COUNT];

/* Radios whose packets are counted; a profile's [radio NAME] has the same name. */
enum air {
        AIR_WIFI,
        AIR_CELLULAR,
        AIR_COUNT
};

/* Amounts by key: time by something that has many values; and amounts made of packets. */
enum keyed {
        KEYED_CPU,    /* by policy and frequency: busy time, summed over cores and threads */
        KEYED_SCREEN, /* by brightness: time the screen was on */
        KEYED_IDLE,   /* by policy and frequency above its lowest: time with no core busy; the base's only */
        KEYED_SIGNAL, /* by the signal's strength, in steps of SIGNAL_STEP_DB: bytes over WiFi, both ways */
        /* by policy and enum counted_event, in the same sampled stretches of the CPU time: the kind of work */
        KEYED_COUNTED,
        KEYED_RADIO,  /* by radio (enum air) and cell (radio-usage.h): packets, bytes, ms or spans */
        KEYED_COUNT
};

#define SIGNAL_STEP_DB 5
#define KHZ_UNKNOWN UINT32_C(0)       /* no cpufreq, or frequency not known */
#define BRIGHTNESS_UNKNOWN UINT32_MAX /* the screen was on, its brightness is not known */

struct keyed_kind {
        const char *word;      /* name of the kind, e.g. "cpu" */
        const char *group;     /* "policy"; NULL: the key stands alone */
        const char *key;       /* "khz" */
        const char *ns;        /* "busy_ns" */
        const char *any_ns;    /* "any_ns"; NULL: there is none */
        uint32_t unknown_key;  /* value of the key that stands for unknown */
        uint32_t have;
};

extern const struct keyed_kind keyed_kinds[KEYED_COUNT];
extern const char *const counted_words[COUNTED_COUNT]; /* "cycles" ..., in JSON, and with .POLICY as columns of CSV */

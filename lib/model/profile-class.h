/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A machine without a calibration is priced as a usual one of its class: phone, tablet, handheld or laptop. The file
 * of a class (data/profiles/class-*.ini) is for no particular machine: its operating points are any frequencies, its
 * brightness is in percent. For a machine it becomes a profile with the machine's own points, brightness and battery.
 */

#include "profile.h"

#define CLASS_POINTS_MAX 64

struct class_policy {
        uint32_t policy;
        char cpus[PROFILE_NAME_MAX];    /* "0-3"; "" unknown */
        uint32_t khz[CLASS_POINTS_MAX]; /* ascending */
        size_t n_khz;                   /* 0: the driver has no list */
        /* Capacity of one core at its highest frequency, by the kernel (cpu_capacity); 0: unknown. */
        uint32_t capacity;
};

/* Facts that a machine shows, by which its class is chosen. */
struct class_facts {
        char chassis[32];               /* "laptop", "handset" ... as its firmware says; "": nothing that is of use */
        bool battery;
        double energy_full_mwh;         /* NaN: unknown */
        uint32_t max_brightness;        /* 0: unknown */
        uint32_t n_cpus;
        struct class_policy *policies;  /* ascending; free() it */
        size_t n_policies;
};

void class_facts_clear(struct class_facts *facts);

/*
 * Reads the chassis type from sys/class/dmi/id/chassis_type (SMBIOS 3.7, table 17) or `chassis-type` of the
 * device tree's root (Devicetree Specification 0.4, 3.2). Empty if there is none that is of use.
 */
void profile_class_read_chassis(int root_fd, char *buf, size_t size);

/* The name of the file of a class, e.g. "class-phone"; @why gets the reason. NULL: the machine has no battery. */
const char *profile_class_choose(const struct class_facts *facts, char *why, size_t size);

/* Is it the file of a class, which must first become the profile of a machine? */
bool profile_is_class_file(const struct profile *profile);

/**
 * profile_from_class() - the profile of a machine, from the file of its class
 * @ret:  free it with profile_free(); method = class
 *
 * The standard errors say how devices of a class differ. They differ as a whole, so the errors of a component are
 * correlated: see profile-class.c.
 * Return: 0; -ENOMEM.
 */
int profile_from_class(const struct profile *class, const struct class_facts *facts, struct profile **ret);

/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Numbers of the fields of profile.proto (github.com/google/pprof/blob/main/proto/profile.proto), and how
 * protocol buffers encode their values.
 */

enum { TYPE_VARINT = 0, TYPE_FIXED64 = 1, TYPE_BYTES = 2, TYPE_FIXED32 = 5 };

enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
       PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_DEFAULT_TYPE = 14 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { VALUE_TYPE = 1, VALUE_UNIT };

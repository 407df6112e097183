// Written by chain/generate.mjs from chain/layout.mjs; do not edit.
#pragma once

#include "runtime.h"

enum class Check : u32 {
  init_length = 4096,
  init_count = 4097,
  init_payer_signer = 4098,
  init_payer_writable = 4099,
  init_mint_signer = 4100,
  init_mint_writable = 4101,
  init_config_writable = 4102,
  init_treasury_writable = 4103,
  init_founders_writable = 4104,
  init_token_program_key = 4105,
  init_system_program_key = 4106,
  init_mint_owner = 4107,
  init_mint_shape = 4108,
  init_mint_authority = 4109,
  init_mint_freezable = 4110,
  init_vault_shape = 4111,
  init_stake_vault_shape = 4112,
  init_treasury_shape = 4113,
  init_vaults_distinct = 4114,
  init_config_address = 4115,
  init_config_exists = 4116,
  init_guardians = 4117,
  init_parameters = 4118,
  init_unbonding = 4119,
  init_delay = 4120,
  init_epoch = 4121,
  init_halving = 4122,
  init_cap = 4123,
  init_founders = 4124,
  init_founders_account = 4125,
  init_guardian_twice = 4126,
  deposit_length = 4160,
  deposit_count = 4161,
  deposit_owner_signer = 4162,
  deposit_owner_writable = 4163,
  deposit_config_writable = 4164,
  deposit_config_program = 4165,
  deposit_config_kind = 4166,
  deposit_escrow_writable = 4167,
  deposit_from_writable = 4168,
  deposit_from_program = 4169,
  deposit_from_mint = 4170,
  deposit_vault_writable = 4171,
  deposit_vault_key = 4172,
  deposit_token_program_key = 4173,
  deposit_system_program_key = 4174,
  deposit_amount = 4175,
  deposit_escrow_address = 4176,
  deposit_escrow_config = 4177,
  deposit_escrow_owner = 4178,
  deposit_escrow_kind = 4179,
  deposit_overflow = 4180,
  charge_length = 4224,
  charge_count = 4225,
  charge_config_writable = 4226,
  charge_config_program = 4227,
  charge_config_kind = 4228,
  charge_escrow_writable = 4229,
  charge_escrow_program = 4230,
  charge_escrow_kind = 4231,
  charge_escrow_network = 4232,
  charge_vault_writable = 4233,
  charge_vault_key = 4234,
  charge_stake_vault_writable = 4235,
  charge_stake_vault_key = 4236,
  charge_instructions_key = 4237,
  charge_token_program_key = 4238,
  charge_forward = 4239,
  charge_funds = 4240,
  withdraw_length = 4288,
  withdraw_count = 4289,
  withdraw_owner_signer = 4290,
  withdraw_coordinator_signer = 4291,
  withdraw_coordinator_key = 4292,
  withdraw_config_writable = 4293,
  withdraw_config_program = 4294,
  withdraw_config_kind = 4295,
  withdraw_escrow_writable = 4296,
  withdraw_escrow_program = 4297,
  withdraw_escrow_kind = 4298,
  withdraw_escrow_network = 4299,
  withdraw_vault_writable = 4300,
  withdraw_vault_key = 4301,
  withdraw_to_writable = 4302,
  withdraw_to_program = 4303,
  withdraw_to_mint = 4304,
  withdraw_token_program_key = 4305,
  withdraw_owner = 4306,
  withdraw_funds = 4307,
  withdraw_destination = 4308,
  request_withdrawal_length = 4352,
  request_withdrawal_count = 4353,
  request_withdrawal_owner_signer = 4354,
  request_withdrawal_config_program = 4355,
  request_withdrawal_config_kind = 4356,
  request_withdrawal_escrow_writable = 4357,
  request_withdrawal_escrow_program = 4358,
  request_withdrawal_escrow_kind = 4359,
  request_withdrawal_escrow_network = 4360,
  request_withdrawal_owner = 4361,
  request_withdrawal_amount = 4362,
  finish_withdrawal_length = 4416,
  finish_withdrawal_count = 4417,
  finish_withdrawal_owner_signer = 4418,
  finish_withdrawal_config_writable = 4419,
  finish_withdrawal_config_program = 4420,
  finish_withdrawal_config_kind = 4421,
  finish_withdrawal_escrow_writable = 4422,
  finish_withdrawal_escrow_program = 4423,
  finish_withdrawal_escrow_kind = 4424,
  finish_withdrawal_escrow_network = 4425,
  finish_withdrawal_vault_writable = 4426,
  finish_withdrawal_vault_key = 4427,
  finish_withdrawal_to_writable = 4428,
  finish_withdrawal_to_program = 4429,
  finish_withdrawal_to_mint = 4430,
  finish_withdrawal_token_program_key = 4431,
  finish_withdrawal_owner = 4432,
  finish_withdrawal_requested = 4433,
  finish_withdrawal_timeout = 4434,
  finish_withdrawal_destination = 4435,
  stake_length = 4480,
  stake_count = 4481,
  stake_owner_signer = 4482,
  stake_owner_writable = 4483,
  stake_config_writable = 4484,
  stake_config_program = 4485,
  stake_config_kind = 4486,
  stake_stake_writable = 4487,
  stake_from_writable = 4488,
  stake_from_program = 4489,
  stake_from_mint = 4490,
  stake_stake_vault_writable = 4491,
  stake_stake_vault_key = 4492,
  stake_token_program_key = 4493,
  stake_system_program_key = 4494,
  stake_amount = 4495,
  stake_stake_address = 4496,
  stake_stake_config = 4497,
  stake_stake_owner = 4498,
  stake_stake_kind = 4499,
  unstake_length = 4544,
  unstake_count = 4545,
  unstake_owner_signer = 4546,
  unstake_config_writable = 4547,
  unstake_config_program = 4548,
  unstake_config_kind = 4549,
  unstake_stake_writable = 4550,
  unstake_stake_program = 4551,
  unstake_stake_kind = 4552,
  unstake_stake_network = 4553,
  unstake_owner = 4554,
  unstake_amount = 4555,
  unstake_locked = 4556,
  withdraw_stake_length = 4608,
  withdraw_stake_count = 4609,
  withdraw_stake_owner_signer = 4610,
  withdraw_stake_config_program = 4611,
  withdraw_stake_config_kind = 4612,
  withdraw_stake_stake_writable = 4613,
  withdraw_stake_stake_program = 4614,
  withdraw_stake_stake_kind = 4615,
  withdraw_stake_stake_network = 4616,
  withdraw_stake_stake_vault_writable = 4617,
  withdraw_stake_stake_vault_key = 4618,
  withdraw_stake_to_writable = 4619,
  withdraw_stake_to_program = 4620,
  withdraw_stake_to_mint = 4621,
  withdraw_stake_token_program_key = 4622,
  withdraw_stake_owner = 4623,
  withdraw_stake_some = 4624,
  withdraw_stake_time = 4625,
  take_rewards_length = 4672,
  take_rewards_count = 4673,
  take_rewards_owner_signer = 4674,
  take_rewards_config_program = 4675,
  take_rewards_config_kind = 4676,
  take_rewards_stake_writable = 4677,
  take_rewards_stake_program = 4678,
  take_rewards_stake_kind = 4679,
  take_rewards_stake_network = 4680,
  take_rewards_stake_vault_writable = 4681,
  take_rewards_stake_vault_key = 4682,
  take_rewards_to_writable = 4683,
  take_rewards_to_program = 4684,
  take_rewards_to_mint = 4685,
  take_rewards_token_program_key = 4686,
  take_rewards_owner = 4687,
  take_rewards_some = 4688,
  post_length = 4736,
  post_count = 4737,
  post_poster_signer = 4738,
  post_poster_key = 4739,
  post_config_writable = 4740,
  post_config_program = 4741,
  post_config_kind = 4742,
  post_bond_from_writable = 4743,
  post_bond_from_program = 4744,
  post_bond_from_mint = 4745,
  post_vault_key = 4746,
  post_stake_vault_writable = 4747,
  post_stake_vault_key = 4748,
  post_token_program_key = 4749,
  post_frozen = 4750,
  post_pending = 4751,
  post_order = 4752,
  post_range = 4753,
  post_due = 4754,
  post_amount = 4755,
  post_units = 4756,
  post_emission = 4757,
  post_bound = 4758,
  post_depth = 4759,
  post_ring = 4760,
  finalise_length = 4800,
  finalise_count = 4801,
  finalise_config_writable = 4802,
  finalise_config_program = 4803,
  finalise_config_kind = 4804,
  finalise_bond_to_writable = 4805,
  finalise_bond_to_program = 4806,
  finalise_bond_to_mint = 4807,
  finalise_stake_vault_writable = 4808,
  finalise_stake_vault_key = 4809,
  finalise_token_program_key = 4810,
  finalise_slot = 4811,
  finalise_state = 4812,
  finalise_frozen = 4813,
  finalise_window = 4814,
  finalise_demands = 4815,
  finalise_bond_to = 4816,
  open_page_length = 4864,
  open_page_count = 4865,
  open_page_payer_signer = 4866,
  open_page_payer_writable = 4867,
  open_page_config_program = 4868,
  open_page_config_kind = 4869,
  open_page_page_writable = 4870,
  open_page_system_program_key = 4871,
  open_page_range = 4872,
  open_page_exists = 4873,
  open_page_address = 4874,
  claim_length = 4928,
  claim_count = 4929,
  claim_config_writable = 4930,
  claim_config_program = 4931,
  claim_config_kind = 4932,
  claim_page_writable = 4933,
  claim_vault_writable = 4934,
  claim_vault_key = 4935,
  claim_to_writable = 4936,
  claim_to_program = 4937,
  claim_to_mint = 4938,
  claim_mint_writable = 4939,
  claim_mint_key = 4940,
  claim_token_program_key = 4941,
  claim_final = 4942,
  claim_depth = 4943,
  claim_page_owner = 4944,
  claim_page_address = 4945,
  claim_path = 4946,
  claim_new = 4947,
  claim_emission = 4948,
  claim_to = 4949,
  freeze_length = 4992,
  freeze_count = 4993,
  freeze_guardian_signer = 4994,
  freeze_guardian_key = 4995,
  freeze_config_writable = 4996,
  freeze_config_program = 4997,
  freeze_config_kind = 4998,
  freeze_once = 4999,
  decide_length = 5056,
  decide_count = 5057,
  decide_config_writable = 5058,
  decide_config_program = 5059,
  decide_config_kind = 5060,
  decide_mint_writable = 5061,
  decide_mint_key = 5062,
  decide_stake_vault_writable = 5063,
  decide_stake_vault_key = 5064,
  decide_token_program_key = 5065,
  decide_quorum = 5066,
  decide_action = 5067,
  decide_pending = 5068,
  decide_frozen = 5069,
  add_device_length = 5120,
  add_device_count = 5121,
  add_device_owner_signer = 5122,
  add_device_owner_writable = 5123,
  add_device_config_program = 5124,
  add_device_config_kind = 5125,
  add_device_device_writable = 5126,
  add_device_system_program_key = 5127,
  add_device_exists = 5128,
  add_device_address = 5129,
  end_device_length = 5184,
  end_device_count = 5185,
  end_device_owner_signer = 5186,
  end_device_config_program = 5187,
  end_device_config_kind = 5188,
  end_device_device_writable = 5189,
  end_device_device_program = 5190,
  end_device_device_kind = 5191,
  end_device_device_network = 5192,
  end_device_owner = 5193,
  end_device_once = 5194,
  record_receipt_length = 5248,
  record_receipt_count = 5249,
  record_receipt_payer_signer = 5250,
  record_receipt_payer_writable = 5251,
  record_receipt_config_program = 5252,
  record_receipt_config_kind = 5253,
  record_receipt_device_program = 5254,
  record_receipt_device_kind = 5255,
  record_receipt_device_network = 5256,
  record_receipt_receipt_writable = 5257,
  record_receipt_instructions_key = 5258,
  record_receipt_system_program_key = 5259,
  record_receipt_exists = 5260,
  record_receipt_address = 5261,
  close_receipt_length = 5312,
  close_receipt_count = 5313,
  close_receipt_payer_signer = 5314,
  close_receipt_payer_writable = 5315,
  close_receipt_config_program = 5316,
  close_receipt_config_kind = 5317,
  close_receipt_receipt_writable = 5318,
  close_receipt_receipt_program = 5319,
  close_receipt_receipt_kind = 5320,
  close_receipt_receipt_network = 5321,
  close_receipt_payer = 5322,
  close_receipt_time = 5323,
  slash_length = 5376,
  slash_count = 5377,
  slash_config_writable = 5378,
  slash_config_program = 5379,
  slash_config_kind = 5380,
  slash_device_program = 5381,
  slash_device_kind = 5382,
  slash_device_network = 5383,
  slash_stake_writable = 5384,
  slash_stake_program = 5385,
  slash_stake_kind = 5386,
  slash_stake_network = 5387,
  slash_mint_writable = 5388,
  slash_mint_key = 5389,
  slash_stake_vault_writable = 5390,
  slash_stake_vault_key = 5391,
  slash_bounty_to_writable = 5392,
  slash_bounty_to_program = 5393,
  slash_bounty_to_mint = 5394,
  slash_instructions_key = 5395,
  slash_token_program_key = 5396,
  slash_stake_owner = 5397,
  slash_ended = 5398,
  slash_differ = 5399,
  slash_levels = 5400,
  slash_some = 5401,
  show_leaf_length = 5440,
  show_leaf_count = 5441,
  show_leaf_payer_signer = 5442,
  show_leaf_payer_writable = 5443,
  show_leaf_config_program = 5444,
  show_leaf_config_kind = 5445,
  show_leaf_leaf_writable = 5446,
  show_leaf_system_program_key = 5447,
  show_leaf_state = 5448,
  show_leaf_depth = 5449,
  show_leaf_index = 5450,
  show_leaf_path = 5451,
  show_leaf_exists = 5452,
  show_leaf_address = 5453,
  close_leaf_length = 5504,
  close_leaf_count = 5505,
  close_leaf_payer_signer = 5506,
  close_leaf_payer_writable = 5507,
  close_leaf_config_program = 5508,
  close_leaf_config_kind = 5509,
  close_leaf_leaf_writable = 5510,
  close_leaf_leaf_program = 5511,
  close_leaf_leaf_kind = 5512,
  close_leaf_leaf_network = 5513,
  close_leaf_payer = 5514,
  prove_less_length = 5568,
  prove_less_count = 5569,
  prove_less_config_writable = 5570,
  prove_less_config_program = 5571,
  prove_less_config_kind = 5572,
  prove_less_leaf_program = 5573,
  prove_less_leaf_kind = 5574,
  prove_less_leaf_network = 5575,
  prove_less_mint_writable = 5576,
  prove_less_mint_key = 5577,
  prove_less_stake_vault_writable = 5578,
  prove_less_stake_vault_key = 5579,
  prove_less_bounty_to_writable = 5580,
  prove_less_bounty_to_program = 5581,
  prove_less_bounty_to_mint = 5582,
  prove_less_instructions_key = 5583,
  prove_less_token_program_key = 5584,
  prove_less_pending = 5585,
  prove_less_root = 5586,
  prove_less_filled = 5587,
  prove_less_less = 5588,
  prove_less_epoch = 5589,
  prove_missing_length = 5632,
  prove_missing_count = 5633,
  prove_missing_config_writable = 5634,
  prove_missing_config_program = 5635,
  prove_missing_config_kind = 5636,
  prove_missing_left_program = 5637,
  prove_missing_left_kind = 5638,
  prove_missing_left_network = 5639,
  prove_missing_right_program = 5640,
  prove_missing_right_kind = 5641,
  prove_missing_right_network = 5642,
  prove_missing_mint_writable = 5643,
  prove_missing_mint_key = 5644,
  prove_missing_stake_vault_writable = 5645,
  prove_missing_stake_vault_key = 5646,
  prove_missing_bounty_to_writable = 5647,
  prove_missing_bounty_to_program = 5648,
  prove_missing_bounty_to_mint = 5649,
  prove_missing_instructions_key = 5650,
  prove_missing_token_program_key = 5651,
  prove_missing_pending = 5652,
  prove_missing_left_root = 5653,
  prove_missing_right_root = 5654,
  prove_missing_some = 5655,
  prove_missing_missing = 5656,
  prove_missing_epoch = 5657,
  prove_order_length = 5696,
  prove_order_count = 5697,
  prove_order_config_writable = 5698,
  prove_order_config_program = 5699,
  prove_order_config_kind = 5700,
  prove_order_left_program = 5701,
  prove_order_left_kind = 5702,
  prove_order_left_network = 5703,
  prove_order_right_program = 5704,
  prove_order_right_kind = 5705,
  prove_order_right_network = 5706,
  prove_order_mint_writable = 5707,
  prove_order_mint_key = 5708,
  prove_order_stake_vault_writable = 5709,
  prove_order_stake_vault_key = 5710,
  prove_order_bounty_to_writable = 5711,
  prove_order_bounty_to_program = 5712,
  prove_order_bounty_to_mint = 5713,
  prove_order_token_program_key = 5714,
  prove_order_pending = 5715,
  prove_order_left_root = 5716,
  prove_order_right_root = 5717,
  prove_order_positions = 5718,
  prove_order_wrong = 5719,
  prove_sum_length = 5760,
  prove_sum_count = 5761,
  prove_sum_config_writable = 5762,
  prove_sum_config_program = 5763,
  prove_sum_config_kind = 5764,
  prove_sum_mint_writable = 5765,
  prove_sum_mint_key = 5766,
  prove_sum_stake_vault_writable = 5767,
  prove_sum_stake_vault_key = 5768,
  prove_sum_bounty_to_writable = 5769,
  prove_sum_bounty_to_program = 5770,
  prove_sum_bounty_to_mint = 5771,
  prove_sum_token_program_key = 5772,
  prove_sum_pending = 5773,
  prove_sum_path = 5774,
  prove_sum_wrong = 5775,
  demand_length = 5824,
  demand_count = 5825,
  demand_payer_signer = 5826,
  demand_payer_writable = 5827,
  demand_config_writable = 5828,
  demand_config_program = 5829,
  demand_config_kind = 5830,
  demand_demand_writable = 5831,
  demand_system_program_key = 5832,
  demand_pending = 5833,
  demand_window = 5834,
  demand_many = 5835,
  demand_exists = 5836,
  demand_address = 5837,
  answer_length = 5888,
  answer_count = 5889,
  answer_answerer_signer = 5890,
  answer_answerer_writable = 5891,
  answer_config_writable = 5892,
  answer_config_program = 5893,
  answer_config_kind = 5894,
  answer_demand_writable = 5895,
  answer_demand_program = 5896,
  answer_demand_kind = 5897,
  answer_demand_network = 5898,
  answer_left_program = 5899,
  answer_left_kind = 5900,
  answer_left_network = 5901,
  answer_right_program = 5902,
  answer_right_kind = 5903,
  answer_right_network = 5904,
  answer_pending = 5905,
  answer_post = 5906,
  answer_left_root = 5907,
  answer_right_root = 5908,
  answer_shows = 5909,
  void_unanswered_length = 5952,
  void_unanswered_count = 5953,
  void_unanswered_payer_writable = 5954,
  void_unanswered_config_writable = 5955,
  void_unanswered_config_program = 5956,
  void_unanswered_config_kind = 5957,
  void_unanswered_demand_writable = 5958,
  void_unanswered_demand_program = 5959,
  void_unanswered_demand_kind = 5960,
  void_unanswered_demand_network = 5961,
  void_unanswered_mint_writable = 5962,
  void_unanswered_mint_key = 5963,
  void_unanswered_stake_vault_writable = 5964,
  void_unanswered_stake_vault_key = 5965,
  void_unanswered_bounty_to_writable = 5966,
  void_unanswered_bounty_to_program = 5967,
  void_unanswered_bounty_to_mint = 5968,
  void_unanswered_token_program_key = 5969,
  void_unanswered_payer = 5970,
  void_unanswered_time = 5971,
  prove_fell_length = 6208,
  prove_fell_count = 6209,
  prove_fell_config_writable = 6210,
  prove_fell_config_program = 6211,
  prove_fell_config_kind = 6212,
  prove_fell_before_program = 6213,
  prove_fell_before_kind = 6214,
  prove_fell_before_network = 6215,
  prove_fell_left_program = 6216,
  prove_fell_left_kind = 6217,
  prove_fell_left_network = 6218,
  prove_fell_right_program = 6219,
  prove_fell_right_kind = 6220,
  prove_fell_right_network = 6221,
  prove_fell_mint_writable = 6222,
  prove_fell_mint_key = 6223,
  prove_fell_stake_vault_writable = 6224,
  prove_fell_stake_vault_key = 6225,
  prove_fell_bounty_to_writable = 6226,
  prove_fell_bounty_to_program = 6227,
  prove_fell_bounty_to_mint = 6228,
  prove_fell_token_program_key = 6229,
  prove_fell_pending = 6230,
  prove_fell_final = 6231,
  prove_fell_before_root = 6232,
  prove_fell_left_root = 6233,
  prove_fell_right_root = 6234,
  prove_fell_filled = 6235,
  prove_fell_fell = 6236,
  propose_length = 6016,
  propose_count = 6017,
  propose_owner_signer = 6018,
  propose_owner_writable = 6019,
  propose_config_writable = 6020,
  propose_config_program = 6021,
  propose_config_kind = 6022,
  propose_stake_program = 6023,
  propose_stake_kind = 6024,
  propose_stake_network = 6025,
  propose_proposal_writable = 6026,
  propose_system_program_key = 6027,
  propose_owner = 6028,
  propose_stake_least = 6029,
  propose_action = 6030,
  propose_parameter = 6031,
  propose_address = 6032,
  vote_length = 6080,
  vote_count = 6081,
  vote_owner_signer = 6082,
  vote_owner_writable = 6083,
  vote_config_program = 6084,
  vote_config_kind = 6085,
  vote_stake_writable = 6086,
  vote_stake_program = 6087,
  vote_stake_kind = 6088,
  vote_stake_network = 6089,
  vote_proposal_writable = 6090,
  vote_proposal_program = 6091,
  vote_proposal_kind = 6092,
  vote_proposal_network = 6093,
  vote_vote_writable = 6094,
  vote_system_program_key = 6095,
  vote_owner = 6096,
  vote_open = 6097,
  vote_age = 6098,
  vote_weight = 6099,
  vote_exists = 6100,
  vote_address = 6101,
  execute_length = 6144,
  execute_count = 6145,
  execute_config_writable = 6146,
  execute_config_program = 6147,
  execute_config_kind = 6148,
  execute_proposal_writable = 6149,
  execute_proposal_program = 6150,
  execute_proposal_kind = 6151,
  execute_proposal_network = 6152,
  execute_treasury_writable = 6153,
  execute_treasury_key = 6154,
  execute_to_writable = 6155,
  execute_to_program = 6156,
  execute_to_mint = 6157,
  execute_token_program_key = 6158,
  execute_once = 6159,
  execute_ready = 6160,
  execute_quorum = 6161,
  execute_majority = 6162,
  execute_bounds = 6163,
  execute_windows = 6164,
  execute_to = 6165,
  execute_guardian = 6166,
  execute_guardian_twice = 6167,
  shared_signature_before = 7936,
  shared_signature_program = 7937,
  shared_signature_count = 7938,
  shared_signature_inside = 7939,
  shared_signature_key = 7940,
  shared_signature_message = 7941,
};
enum class Tag : u8 {
  init = 0,
  deposit = 1,
  charge = 2,
  withdraw = 3,
  request_withdrawal = 4,
  finish_withdrawal = 5,
  stake = 6,
  unstake = 7,
  withdraw_stake = 8,
  take_rewards = 9,
  post = 10,
  finalise = 11,
  open_page = 12,
  claim = 13,
  freeze = 14,
  decide = 15,
  add_device = 16,
  end_device = 17,
  record_receipt = 18,
  close_receipt = 19,
  slash = 20,
  show_leaf = 21,
  close_leaf = 22,
  prove_less = 23,
  prove_missing = 24,
  prove_order = 25,
  prove_sum = 26,
  demand = 27,
  answer = 28,
  void_unanswered = 29,
  prove_fell = 33,
  propose = 30,
  vote = 31,
  execute = 32
};
constexpr u64 ring = 16, page_owners = 1280, depth_max = 21, guardians_max = 5;

struct Epoch {
  u64 epoch;
  u64 posted_at;
  Key root;
  u64 amount;
  u64 units;
  u64 emission;
  u64 spends;
  u64 bond;
  u8 state;
  u8 depth;
  u16 demands;
  u32 unused;
  Key bond_account;
  u64 amount_before;
  u64 units_before;
  u64 epoch_before;
  u64 post;
};
static_assert(sizeof(Epoch) == 160);

struct Config {
  u8 kind;
  u8 version;
  u8 bump;
  u8 guardian_count;
  u8 guardian_quorum;
  u8 frozen;
  u8 pending;
  u8 unused;
  Key mint;
  Key vault;
  Key stake_vault;
  Key treasury;
  Key poster;
  Key coordinator;
  Key genesis;
  Key guardians[5];
  u64 genesis_time;
  u64 epoch_seconds;
  u64 emission_first;
  u64 halving_epochs;
  u64 cap;
  u64 initial;
  u64 fee_bps;
  u64 challenge_seconds;
  u64 unbonding_seconds;
  u64 evidence_seconds;
  u64 timeout_seconds;
  u64 voting_seconds;
  u64 delay_seconds;
  u64 bond_min;
  u64 bounty_bps;
  u64 post_bps;
  u64 quorum_bps;
  u64 proposal_stake;
  u64 demand_lamports;
  u64 frozen_at;
  u64 last_epoch;
  u64 last_amount;
  u64 last_units;
  u64 emitted;
  u64 charged;
  u64 spends_posted;
  u64 final_spends;
  u64 final_emission;
  u64 claimed_spends;
  u64 claimed_emission;
  u64 deposits;
  u64 withdrawals;
  u64 fees;
  u64 burned;
  u64 staked;
  u64 rewards_per_stake;
  u64 vote_pool;
  u64 proposals;
  u64 posts;
  Epoch epochs[16];
};
static_assert(sizeof(Config) == 3264);
constexpr u8 config_kind = 1;

struct Escrow {
  u8 kind;
  u8 version;
  u8 bump;
  u8 unused[5];
  Key config;
  Key owner;
  u64 deposited;
  u64 withdrawn;
  u64 charged;
  u64 requested;
  u64 requested_at;
};
static_assert(sizeof(Escrow) == 112);
constexpr u8 escrow_kind = 2;

struct Stake {
  u8 kind;
  u8 version;
  u8 bump;
  u8 unused[5];
  Key config;
  Key owner;
  u64 amount;
  u64 unbonding;
  u64 unbond_at;
  u64 staked_at;
  u64 locked_until;
  u64 rewards_mark;
  u64 rewards;
};
static_assert(sizeof(Stake) == 128);
constexpr u8 stake_kind = 3;

struct Device {
  u8 kind;
  u8 version;
  u8 bump;
  u8 unused[5];
  Key config;
  Key owner;
  Key device;
  u64 added_at;
  u64 ends_at;
};
static_assert(sizeof(Device) == 120);
constexpr u8 device_kind = 4;

struct Receipt {
  u8 kind;
  u8 version;
  u8 bump;
  u8 unused[5];
  Key config;
  Key device;
  Key payer;
  Key digest;
  Key root;
  u64 recorded_at;
};
static_assert(sizeof(Receipt) == 176);
constexpr u8 receipt_kind = 5;

struct Shown {
  u8 kind;
  u8 version;
  u8 bump;
  u8 filled;
  u8 unused[4];
  Key config;
  Key payer;
  Key root;
  Key owner;
  u64 position;
  u64 index;
  u64 amount;
  u64 units;
};
static_assert(sizeof(Shown) == 168);
constexpr u8 shown_kind = 6;

struct Demand {
  u8 kind;
  u8 version;
  u8 bump;
  u8 unused[5];
  Key config;
  Key owner;
  Key payer;
  u64 post;
  u64 made_at;
};
static_assert(sizeof(Demand) == 120);
constexpr u8 demand_kind = 7;

struct Proposal {
  u8 kind;
  u8 version;
  u8 bump;
  u8 action;
  u8 parameter;
  u8 executed;
  u8 unused[2];
  Key config;
  Key target;
  u64 value;
  u64 number;
  u64 created_at;
  u64 ends_at;
  u64 ready_at;
  u64 total;
  u64 yes;
  u64 no;
  u64 reward;
};
static_assert(sizeof(Proposal) == 144);
constexpr u8 proposal_kind = 8;

struct Vote {
  u8 kind;
  u8 version;
  u8 bump;
  u8 yes;
  u8 unused[4];
  Key config;
  Key proposal;
  Key stake;
  u64 weight;
};
static_assert(sizeof(Vote) == 112);
constexpr u8 vote_kind = 9;

struct Bounds {
  u64 least, most;
};
constexpr Bounds parameter_bounds[13] = {
    {0, 1000},       {3600, 2592000}, {7200, 31536000}, {3600, 15552000},
    {3600, 7776000}, {3600, 5184000}, {7200, 31536000}, {1, 1000000000000000},
    {0, 1000},       {1, 500},        {100, 10000},     {1, 1000000000000000},
    {0, 10000000000}};

struct InitData {
  const u8* data;
  u8 guardian_count() const { return load<u8>(data + 1); }
  static constexpr u64 guardian_count_at = 1;
  u8 guardian_quorum() const { return load<u8>(data + 2); }
  static constexpr u64 guardian_quorum_at = 2;
  const Key& poster() const { return *reinterpret_cast<const Key*>(data + 8); }
  static constexpr u64 poster_at = 8;
  const Key& coordinator() const { return *reinterpret_cast<const Key*>(data + 40); }
  static constexpr u64 coordinator_at = 40;
  const Key& genesis() const { return *reinterpret_cast<const Key*>(data + 72); }
  static constexpr u64 genesis_at = 72;
  const Key& guardians(u64 i) const { return *reinterpret_cast<const Key*>(data + 104 + i * 32); }
  static constexpr u64 guardians_at = 104;
  u64 genesis_time() const { return load<u64>(data + 264); }
  static constexpr u64 genesis_time_at = 264;
  u64 epoch_seconds() const { return load<u64>(data + 272); }
  static constexpr u64 epoch_seconds_at = 272;
  u64 emission_first() const { return load<u64>(data + 280); }
  static constexpr u64 emission_first_at = 280;
  u64 halving_epochs() const { return load<u64>(data + 288); }
  static constexpr u64 halving_epochs_at = 288;
  u64 cap() const { return load<u64>(data + 296); }
  static constexpr u64 cap_at = 296;
  u64 initial() const { return load<u64>(data + 304); }
  static constexpr u64 initial_at = 304;
  u64 founders_amount() const { return load<u64>(data + 312); }
  static constexpr u64 founders_amount_at = 312;
  u64 fee_bps() const { return load<u64>(data + 320); }
  static constexpr u64 fee_bps_at = 320;
  u64 challenge_seconds() const { return load<u64>(data + 328); }
  static constexpr u64 challenge_seconds_at = 328;
  u64 unbonding_seconds() const { return load<u64>(data + 336); }
  static constexpr u64 unbonding_seconds_at = 336;
  u64 evidence_seconds() const { return load<u64>(data + 344); }
  static constexpr u64 evidence_seconds_at = 344;
  u64 timeout_seconds() const { return load<u64>(data + 352); }
  static constexpr u64 timeout_seconds_at = 352;
  u64 voting_seconds() const { return load<u64>(data + 360); }
  static constexpr u64 voting_seconds_at = 360;
  u64 delay_seconds() const { return load<u64>(data + 368); }
  static constexpr u64 delay_seconds_at = 368;
  u64 bond_min() const { return load<u64>(data + 376); }
  static constexpr u64 bond_min_at = 376;
  u64 bounty_bps() const { return load<u64>(data + 384); }
  static constexpr u64 bounty_bps_at = 384;
  u64 post_bps() const { return load<u64>(data + 392); }
  static constexpr u64 post_bps_at = 392;
  u64 quorum_bps() const { return load<u64>(data + 400); }
  static constexpr u64 quorum_bps_at = 400;
  u64 proposal_stake() const { return load<u64>(data + 408); }
  static constexpr u64 proposal_stake_at = 408;
  u64 demand_lamports() const { return load<u64>(data + 416); }
  static constexpr u64 demand_lamports_at = 416;
  static constexpr u64 size = 424;
};

struct DepositData {
  const u8* data;
  u64 amount() const { return load<u64>(data + 1); }
  static constexpr u64 amount_at = 1;
  static constexpr u64 size = 9;
};

struct ChargeData {
  const u8* data;
  u64 cumulative() const { return load<u64>(data + 1); }
  static constexpr u64 cumulative_at = 1;
  static constexpr u64 size = 9;
};

struct WithdrawData {
  const u8* data;
  u64 amount() const { return load<u64>(data + 1); }
  static constexpr u64 amount_at = 1;
  static constexpr u64 size = 9;
};

struct RequestWithdrawalData {
  const u8* data;
  u64 amount() const { return load<u64>(data + 1); }
  static constexpr u64 amount_at = 1;
  static constexpr u64 size = 9;
};

struct FinishWithdrawalData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct StakeData {
  const u8* data;
  u64 amount() const { return load<u64>(data + 1); }
  static constexpr u64 amount_at = 1;
  static constexpr u64 size = 9;
};

struct UnstakeData {
  const u8* data;
  u64 amount() const { return load<u64>(data + 1); }
  static constexpr u64 amount_at = 1;
  static constexpr u64 size = 9;
};

struct WithdrawStakeData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct TakeRewardsData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct PostData {
  const u8* data;
  u64 epoch() const { return load<u64>(data + 1); }
  static constexpr u64 epoch_at = 1;
  const Key& root() const { return *reinterpret_cast<const Key*>(data + 9); }
  static constexpr u64 root_at = 9;
  u64 amount() const { return load<u64>(data + 41); }
  static constexpr u64 amount_at = 41;
  u64 units() const { return load<u64>(data + 49); }
  static constexpr u64 units_at = 49;
  u64 emission() const { return load<u64>(data + 57); }
  static constexpr u64 emission_at = 57;
  u8 depth() const { return load<u8>(data + 65); }
  static constexpr u64 depth_at = 65;
  static constexpr u64 size = 66;
};

struct FinaliseData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  static constexpr u64 size = 2;
};

struct OpenPageData {
  const u8* data;
  u32 page() const { return load<u32>(data + 1); }
  static constexpr u64 page_at = 1;
  static constexpr u64 size = 5;
};

struct ClaimData {
  const u8* data;
  u8 page_bump() const { return load<u8>(data + 1); }
  static constexpr u64 page_bump_at = 1;
  u64 place() const { return load<u32>(data + 2) | u64(load<u16>(data + 2 + 4)) << 32; }
  static constexpr u64 place_at = 2;
  u64 amount() const { return load<u64>(data + 8); }
  static constexpr u64 amount_at = 8;
  u64 units() const { return load<u64>(data + 16); }
  static constexpr u64 units_at = 16;
  static constexpr u64 size = 24;
};

struct FreezeData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct DecideData {
  const u8* data;
  u8 voids() const { return load<u8>(data + 1); }
  static constexpr u64 voids_at = 1;
  u8 thaws() const { return load<u8>(data + 2); }
  static constexpr u64 thaws_at = 2;
  const Key& poster() const { return *reinterpret_cast<const Key*>(data + 3); }
  static constexpr u64 poster_at = 3;
  static constexpr u64 size = 35;
};

struct AddDeviceData {
  const u8* data;
  const Key& device() const { return *reinterpret_cast<const Key*>(data + 1); }
  static constexpr u64 device_at = 1;
  static constexpr u64 size = 33;
};

struct EndDeviceData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct RecordReceiptData {
  const u8* data;
  const Key& session() const { return *reinterpret_cast<const Key*>(data + 1); }
  static constexpr u64 session_at = 1;
  const Key& worker() const { return *reinterpret_cast<const Key*>(data + 33); }
  static constexpr u64 worker_at = 33;
  const Key& root() const { return *reinterpret_cast<const Key*>(data + 65); }
  static constexpr u64 root_at = 65;
  static constexpr u64 size = 97;
};

struct CloseReceiptData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct SlashData {
  const u8* data;
  u8 levels_a() const { return load<u8>(data + 1); }
  static constexpr u64 levels_a_at = 1;
  u8 levels_b() const { return load<u8>(data + 2); }
  static constexpr u64 levels_b_at = 2;
  u8 sides_a() const { return load<u8>(data + 3); }
  static constexpr u64 sides_a_at = 3;
  u8 sides_b() const { return load<u8>(data + 4); }
  static constexpr u64 sides_b_at = 4;
  u64 job(u64 i) const { return load<u64>(data + 5 + i * 8); }
  static constexpr u64 job_at = 5;
  u32 index() const { return load<u32>(data + 21); }
  static constexpr u64 index_at = 21;
  u32 attempt() const { return load<u32>(data + 25); }
  static constexpr u64 attempt_at = 25;
  const Key& result_a() const { return *reinterpret_cast<const Key*>(data + 29); }
  static constexpr u64 result_a_at = 29;
  const Key& result_b() const { return *reinterpret_cast<const Key*>(data + 61); }
  static constexpr u64 result_b_at = 61;
  const Key& session_a() const { return *reinterpret_cast<const Key*>(data + 93); }
  static constexpr u64 session_a_at = 93;
  const Key& worker_a() const { return *reinterpret_cast<const Key*>(data + 125); }
  static constexpr u64 worker_a_at = 125;
  const Key& session_b() const { return *reinterpret_cast<const Key*>(data + 157); }
  static constexpr u64 session_b_at = 157;
  const Key& worker_b() const { return *reinterpret_cast<const Key*>(data + 189); }
  static constexpr u64 worker_b_at = 189;
  static constexpr u64 size = 221;
};

struct ShowLeafData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  u8 filled() const { return load<u8>(data + 2); }
  static constexpr u64 filled_at = 2;
  u64 position() const { return load<u64>(data + 3); }
  static constexpr u64 position_at = 3;
  const Key& owner() const { return *reinterpret_cast<const Key*>(data + 11); }
  static constexpr u64 owner_at = 11;
  u64 index() const { return load<u64>(data + 43); }
  static constexpr u64 index_at = 43;
  u64 amount() const { return load<u64>(data + 51); }
  static constexpr u64 amount_at = 51;
  u64 units() const { return load<u64>(data + 59); }
  static constexpr u64 units_at = 59;
  static constexpr u64 size = 67;
};

struct CloseLeafData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct ProveLessData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  u64 epoch() const { return load<u64>(data + 2); }
  static constexpr u64 epoch_at = 2;
  u64 amount() const { return load<u64>(data + 10); }
  static constexpr u64 amount_at = 10;
  u64 units() const { return load<u64>(data + 18); }
  static constexpr u64 units_at = 18;
  static constexpr u64 size = 26;
};

struct ProveMissingData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  const Key& owner() const { return *reinterpret_cast<const Key*>(data + 2); }
  static constexpr u64 owner_at = 2;
  u64 epoch() const { return load<u64>(data + 34); }
  static constexpr u64 epoch_at = 34;
  u64 amount() const { return load<u64>(data + 42); }
  static constexpr u64 amount_at = 42;
  u64 units() const { return load<u64>(data + 50); }
  static constexpr u64 units_at = 50;
  static constexpr u64 size = 58;
};

struct ProveOrderData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  static constexpr u64 size = 2;
};

struct ProveSumData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  u64 position() const { return load<u64>(data + 2); }
  static constexpr u64 position_at = 2;
  u64 sum() const { return load<u64>(data + 10); }
  static constexpr u64 sum_at = 10;
  const Key& left() const { return *reinterpret_cast<const Key*>(data + 18); }
  static constexpr u64 left_at = 18;
  u64 left_sum() const { return load<u64>(data + 50); }
  static constexpr u64 left_sum_at = 50;
  const Key& right() const { return *reinterpret_cast<const Key*>(data + 58); }
  static constexpr u64 right_at = 58;
  u64 right_sum() const { return load<u64>(data + 90); }
  static constexpr u64 right_sum_at = 90;
  static constexpr u64 size = 98;
};

struct DemandData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  const Key& owner() const { return *reinterpret_cast<const Key*>(data + 2); }
  static constexpr u64 owner_at = 2;
  static constexpr u64 size = 34;
};

struct AnswerData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  static constexpr u64 size = 2;
};

struct VoidUnansweredData {
  const u8* data;

  static constexpr u64 size = 1;
};

struct ProveFellData {
  const u8* data;
  u8 slot() const { return load<u8>(data + 1); }
  static constexpr u64 slot_at = 1;
  static constexpr u64 size = 2;
};

struct ProposeData {
  const u8* data;
  u8 action() const { return load<u8>(data + 1); }
  static constexpr u64 action_at = 1;
  u8 parameter() const { return load<u8>(data + 2); }
  static constexpr u64 parameter_at = 2;
  u64 value() const { return load<u64>(data + 3); }
  static constexpr u64 value_at = 3;
  const Key& target() const { return *reinterpret_cast<const Key*>(data + 11); }
  static constexpr u64 target_at = 11;
  static constexpr u64 size = 43;
};

struct VoteData {
  const u8* data;
  u8 yes() const { return load<u8>(data + 1); }
  static constexpr u64 yes_at = 1;
  static constexpr u64 size = 2;
};

struct ExecuteData {
  const u8* data;

  static constexpr u64 size = 1;
};

FN bool is_guardian(const Config& config, const Key& key) {
  for (u64 i = 0; i < config.guardian_count; ++i)
    if (same(config.guardians[i], key)) return true;
  return false;
}

// Makes the config of a fresh mint. The mint signs, so no other account can take its place, and
// its only authority is the config. The founders' account gets `founders_amount` of the initial
// allocation, and the treasury gets the rest.
namespace init_accounts {
enum : u64 {
  payer,
  mint,
  config,
  vault,
  stake_vault,
  treasury,
  founders,
  token_program,
  system_program
};
}
FN u64 guard_init(Context& c) {
  REQUIRE(init_length, c.length == 424);
  REQUIRE(init_count, c.count >= 9);
  REQUIRE(init_payer_signer, c.a[0].signer);
  REQUIRE(init_payer_writable, c.a[0].writable);
  REQUIRE(init_mint_signer, c.a[1].signer);
  REQUIRE(init_mint_writable, c.a[1].writable);
  REQUIRE(init_config_writable, c.a[2].writable);
  REQUIRE(init_treasury_writable, c.a[5].writable);
  REQUIRE(init_founders_writable, c.a[6].writable);
  REQUIRE(init_token_program_key, same(*c.a[7].key, token_program_key));
  REQUIRE(init_system_program_key, same(*c.a[8].key, system_program_key));
  return 0;
}

// Moves tokens into the vault; makes the escrow if there is none.
namespace deposit_accounts {
enum : u64 { owner, config, escrow, from, vault, token_program, system_program };
}
FN u64 guard_deposit(Context& c) {
  REQUIRE(deposit_length, c.length == 9);
  REQUIRE(deposit_count, c.count >= 7);
  REQUIRE(deposit_config_writable, c.a[1].writable);
  REQUIRE(deposit_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(deposit_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(deposit_owner_signer, c.a[0].signer);
  REQUIRE(deposit_owner_writable, c.a[0].writable);
  REQUIRE(deposit_escrow_writable, c.a[2].writable);
  REQUIRE(deposit_from_writable, c.a[3].writable);
  REQUIRE(deposit_from_program,
          same(*c.a[3].owner, token_program_key) && c.a[3].size == token_account_size);
  REQUIRE(deposit_from_mint, same(c.a[3].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(deposit_vault_writable, c.a[4].writable);
  REQUIRE(deposit_vault_key, same(*c.a[4].key, c.a[1].as<Config>().vault));
  REQUIRE(deposit_token_program_key, same(*c.a[5].key, token_program_key));
  REQUIRE(deposit_system_program_key, same(*c.a[6].key, system_program_key));
  return 0;
}

// Charges an escrow up to the cumulative amount of a voucher that its owner signed, in an
// Ed25519 instruction before this one. The fee goes to stakers.
namespace charge_accounts {
enum : u64 { config, escrow, vault, stake_vault, instructions, token_program };
}
FN u64 guard_charge(Context& c) {
  REQUIRE(charge_length, c.length == 9);
  REQUIRE(charge_count, c.count >= 6);
  REQUIRE(charge_config_writable, c.a[0].writable);
  REQUIRE(charge_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(charge_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(charge_escrow_writable, c.a[1].writable);
  REQUIRE(charge_escrow_program, same(*c.a[1].owner, *c.program));
  REQUIRE(charge_escrow_kind, c.a[1].size == sizeof(Escrow) && c.a[1].data[0] == 2);
  REQUIRE(charge_escrow_network, same(c.a[1].as<Escrow>().config, *c.a[0].key));
  REQUIRE(charge_vault_writable, c.a[2].writable);
  REQUIRE(charge_vault_key, same(*c.a[2].key, c.a[0].as<Config>().vault));
  REQUIRE(charge_stake_vault_writable, c.a[3].writable);
  REQUIRE(charge_stake_vault_key, same(*c.a[3].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(charge_instructions_key, same(*c.a[4].key, instructions_key));
  REQUIRE(charge_token_program_key, same(*c.a[5].key, token_program_key));
  return 0;
}

// Pays an unspent deposit back at once. The owner and the coordinator both sign.
namespace withdraw_accounts {
enum : u64 { owner, coordinator, config, escrow, vault, to, token_program };
}
FN u64 guard_withdraw(Context& c) {
  REQUIRE(withdraw_length, c.length == 9);
  REQUIRE(withdraw_count, c.count >= 7);
  REQUIRE(withdraw_config_writable, c.a[2].writable);
  REQUIRE(withdraw_config_program, same(*c.a[2].owner, *c.program));
  REQUIRE(withdraw_config_kind, c.a[2].size == sizeof(Config) && c.a[2].data[0] == 1);
  REQUIRE(withdraw_owner_signer, c.a[0].signer);
  REQUIRE(withdraw_coordinator_signer, c.a[1].signer);
  REQUIRE(withdraw_coordinator_key, same(*c.a[1].key, c.a[2].as<Config>().coordinator));
  REQUIRE(withdraw_escrow_writable, c.a[3].writable);
  REQUIRE(withdraw_escrow_program, same(*c.a[3].owner, *c.program));
  REQUIRE(withdraw_escrow_kind, c.a[3].size == sizeof(Escrow) && c.a[3].data[0] == 2);
  REQUIRE(withdraw_escrow_network, same(c.a[3].as<Escrow>().config, *c.a[2].key));
  REQUIRE(withdraw_vault_writable, c.a[4].writable);
  REQUIRE(withdraw_vault_key, same(*c.a[4].key, c.a[2].as<Config>().vault));
  REQUIRE(withdraw_to_writable, c.a[5].writable);
  REQUIRE(withdraw_to_program,
          same(*c.a[5].owner, token_program_key) && c.a[5].size == token_account_size);
  REQUIRE(withdraw_to_mint, same(c.a[5].token_mint(), c.a[2].as<Config>().mint));
  REQUIRE(withdraw_token_program_key, same(*c.a[6].key, token_program_key));
  return 0;
}

// Starts the time-out of a withdrawal without the coordinator. Vouchers that are charged before
// its end are paid first.
namespace request_withdrawal_accounts {
enum : u64 { owner, config, escrow };
}
FN u64 guard_request_withdrawal(Context& c) {
  REQUIRE(request_withdrawal_length, c.length == 9);
  REQUIRE(request_withdrawal_count, c.count >= 3);
  REQUIRE(request_withdrawal_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(request_withdrawal_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(request_withdrawal_owner_signer, c.a[0].signer);
  REQUIRE(request_withdrawal_escrow_writable, c.a[2].writable);
  REQUIRE(request_withdrawal_escrow_program, same(*c.a[2].owner, *c.program));
  REQUIRE(request_withdrawal_escrow_kind, c.a[2].size == sizeof(Escrow) && c.a[2].data[0] == 2);
  REQUIRE(request_withdrawal_escrow_network, same(c.a[2].as<Escrow>().config, *c.a[1].key));
  return 0;
}

// Pays a requested withdrawal after its time-out, except the part that was spent meanwhile.
namespace finish_withdrawal_accounts {
enum : u64 { owner, config, escrow, vault, to, token_program };
}
FN u64 guard_finish_withdrawal(Context& c) {
  REQUIRE(finish_withdrawal_length, c.length == 1);
  REQUIRE(finish_withdrawal_count, c.count >= 6);
  REQUIRE(finish_withdrawal_config_writable, c.a[1].writable);
  REQUIRE(finish_withdrawal_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(finish_withdrawal_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(finish_withdrawal_owner_signer, c.a[0].signer);
  REQUIRE(finish_withdrawal_escrow_writable, c.a[2].writable);
  REQUIRE(finish_withdrawal_escrow_program, same(*c.a[2].owner, *c.program));
  REQUIRE(finish_withdrawal_escrow_kind, c.a[2].size == sizeof(Escrow) && c.a[2].data[0] == 2);
  REQUIRE(finish_withdrawal_escrow_network, same(c.a[2].as<Escrow>().config, *c.a[1].key));
  REQUIRE(finish_withdrawal_vault_writable, c.a[3].writable);
  REQUIRE(finish_withdrawal_vault_key, same(*c.a[3].key, c.a[1].as<Config>().vault));
  REQUIRE(finish_withdrawal_to_writable, c.a[4].writable);
  REQUIRE(finish_withdrawal_to_program,
          same(*c.a[4].owner, token_program_key) && c.a[4].size == token_account_size);
  REQUIRE(finish_withdrawal_to_mint, same(c.a[4].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(finish_withdrawal_token_program_key, same(*c.a[5].key, token_program_key));
  return 0;
}

// Adds to a stake; makes it if there is none. The age of the whole stake starts again.
namespace stake_accounts {
enum : u64 { owner, config, stake, from, stake_vault, token_program, system_program };
}
FN u64 guard_stake(Context& c) {
  REQUIRE(stake_length, c.length == 9);
  REQUIRE(stake_count, c.count >= 7);
  REQUIRE(stake_config_writable, c.a[1].writable);
  REQUIRE(stake_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(stake_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(stake_owner_signer, c.a[0].signer);
  REQUIRE(stake_owner_writable, c.a[0].writable);
  REQUIRE(stake_stake_writable, c.a[2].writable);
  REQUIRE(stake_from_writable, c.a[3].writable);
  REQUIRE(stake_from_program,
          same(*c.a[3].owner, token_program_key) && c.a[3].size == token_account_size);
  REQUIRE(stake_from_mint, same(c.a[3].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(stake_stake_vault_writable, c.a[4].writable);
  REQUIRE(stake_stake_vault_key, same(*c.a[4].key, c.a[1].as<Config>().stake_vault));
  REQUIRE(stake_token_program_key, same(*c.a[5].key, token_program_key));
  REQUIRE(stake_system_program_key, same(*c.a[6].key, system_program_key));
  return 0;
}

// Begins to unbond an amount of a stake. The amount can be slashed until it is withdrawn.
namespace unstake_accounts {
enum : u64 { owner, config, stake };
}
FN u64 guard_unstake(Context& c) {
  REQUIRE(unstake_length, c.length == 9);
  REQUIRE(unstake_count, c.count >= 3);
  REQUIRE(unstake_config_writable, c.a[1].writable);
  REQUIRE(unstake_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(unstake_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(unstake_owner_signer, c.a[0].signer);
  REQUIRE(unstake_stake_writable, c.a[2].writable);
  REQUIRE(unstake_stake_program, same(*c.a[2].owner, *c.program));
  REQUIRE(unstake_stake_kind, c.a[2].size == sizeof(Stake) && c.a[2].data[0] == 3);
  REQUIRE(unstake_stake_network, same(c.a[2].as<Stake>().config, *c.a[1].key));
  return 0;
}

// Pays out the amount that has unbonded.
namespace withdraw_stake_accounts {
enum : u64 { owner, config, stake, stake_vault, to, token_program };
}
FN u64 guard_withdraw_stake(Context& c) {
  REQUIRE(withdraw_stake_length, c.length == 1);
  REQUIRE(withdraw_stake_count, c.count >= 6);
  REQUIRE(withdraw_stake_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(withdraw_stake_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(withdraw_stake_owner_signer, c.a[0].signer);
  REQUIRE(withdraw_stake_stake_writable, c.a[2].writable);
  REQUIRE(withdraw_stake_stake_program, same(*c.a[2].owner, *c.program));
  REQUIRE(withdraw_stake_stake_kind, c.a[2].size == sizeof(Stake) && c.a[2].data[0] == 3);
  REQUIRE(withdraw_stake_stake_network, same(c.a[2].as<Stake>().config, *c.a[1].key));
  REQUIRE(withdraw_stake_stake_vault_writable, c.a[3].writable);
  REQUIRE(withdraw_stake_stake_vault_key, same(*c.a[3].key, c.a[1].as<Config>().stake_vault));
  REQUIRE(withdraw_stake_to_writable, c.a[4].writable);
  REQUIRE(withdraw_stake_to_program,
          same(*c.a[4].owner, token_program_key) && c.a[4].size == token_account_size);
  REQUIRE(withdraw_stake_to_mint, same(c.a[4].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(withdraw_stake_token_program_key, same(*c.a[5].key, token_program_key));
  return 0;
}

// Pays the rewards of a stake.
namespace take_rewards_accounts {
enum : u64 { owner, config, stake, stake_vault, to, token_program };
}
FN u64 guard_take_rewards(Context& c) {
  REQUIRE(take_rewards_length, c.length == 1);
  REQUIRE(take_rewards_count, c.count >= 6);
  REQUIRE(take_rewards_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(take_rewards_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(take_rewards_owner_signer, c.a[0].signer);
  REQUIRE(take_rewards_stake_writable, c.a[2].writable);
  REQUIRE(take_rewards_stake_program, same(*c.a[2].owner, *c.program));
  REQUIRE(take_rewards_stake_kind, c.a[2].size == sizeof(Stake) && c.a[2].data[0] == 3);
  REQUIRE(take_rewards_stake_network, same(c.a[2].as<Stake>().config, *c.a[1].key));
  REQUIRE(take_rewards_stake_vault_writable, c.a[3].writable);
  REQUIRE(take_rewards_stake_vault_key, same(*c.a[3].key, c.a[1].as<Config>().stake_vault));
  REQUIRE(take_rewards_to_writable, c.a[4].writable);
  REQUIRE(take_rewards_to_program,
          same(*c.a[4].owner, token_program_key) && c.a[4].size == token_account_size);
  REQUIRE(take_rewards_to_mint, same(c.a[4].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(take_rewards_token_program_key, same(*c.a[5].key, token_program_key));
  return 0;
}

// Posts an epoch's root with a bond. `emission` is the part of the growth of the total that is
// paid in new tokens; vouchers have charged the rest. Only one root at a time is in its
// challenge window.
namespace post_accounts {
enum : u64 { poster, config, bond_from, vault, stake_vault, token_program };
}
FN u64 guard_post(Context& c) {
  REQUIRE(post_length, c.length == 66);
  REQUIRE(post_count, c.count >= 6);
  REQUIRE(post_config_writable, c.a[1].writable);
  REQUIRE(post_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(post_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(post_poster_signer, c.a[0].signer);
  REQUIRE(post_poster_key, same(*c.a[0].key, c.a[1].as<Config>().poster));
  REQUIRE(post_bond_from_writable, c.a[2].writable);
  REQUIRE(post_bond_from_program,
          same(*c.a[2].owner, token_program_key) && c.a[2].size == token_account_size);
  REQUIRE(post_bond_from_mint, same(c.a[2].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(post_vault_key, same(*c.a[3].key, c.a[1].as<Config>().vault));
  REQUIRE(post_stake_vault_writable, c.a[4].writable);
  REQUIRE(post_stake_vault_key, same(*c.a[4].key, c.a[1].as<Config>().stake_vault));
  REQUIRE(post_token_program_key, same(*c.a[5].key, token_program_key));
  return 0;
}

// Makes a pending epoch final after its challenge window and returns the bond.
namespace finalise_accounts {
enum : u64 { config, bond_to, stake_vault, token_program };
}
FN u64 guard_finalise(Context& c) {
  REQUIRE(finalise_length, c.length == 2);
  REQUIRE(finalise_count, c.count >= 4);
  REQUIRE(finalise_config_writable, c.a[0].writable);
  REQUIRE(finalise_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(finalise_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(finalise_bond_to_writable, c.a[1].writable);
  REQUIRE(finalise_bond_to_program,
          same(*c.a[1].owner, token_program_key) && c.a[1].size == token_account_size);
  REQUIRE(finalise_bond_to_mint, same(c.a[1].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(finalise_stake_vault_writable, c.a[2].writable);
  REQUIRE(finalise_stake_vault_key, same(*c.a[2].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(finalise_token_program_key, same(*c.a[3].key, token_program_key));
  return 0;
}

// Makes a page of claimed amounts for 1,280 owners.
namespace open_page_accounts {
enum : u64 { payer, config, page, system_program };
}
FN u64 guard_open_page(Context& c) {
  REQUIRE(open_page_length, c.length == 5);
  REQUIRE(open_page_count, c.count >= 4);
  REQUIRE(open_page_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(open_page_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(open_page_payer_signer, c.a[0].signer);
  REQUIRE(open_page_payer_writable, c.a[0].writable);
  REQUIRE(open_page_page_writable, c.a[2].writable);
  REQUIRE(open_page_system_program_key, same(*c.a[3].key, system_program_key));
  return 0;
}

// Pays an owner the difference between its cumulative amount in a final root and the amount that
// it has claimed before. Any account may call it. `place` has the slot (4 bits), the index (21)
// and the position (21), from the lowest bit. Siblings of 40 bytes follow: hash, amount.
namespace claim_accounts {
enum : u64 { config, page, vault, to, mint, token_program };
}
FN u64 guard_claim(Context& c) {
  REQUIRE(claim_length, c.length >= 24 && (c.length - 24) % 40 == 0);
  REQUIRE(claim_count, c.count >= 6);
  REQUIRE(claim_config_writable, c.a[0].writable);
  REQUIRE(claim_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(claim_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(claim_page_writable, c.a[1].writable);
  REQUIRE(claim_vault_writable, c.a[2].writable);
  REQUIRE(claim_vault_key, same(*c.a[2].key, c.a[0].as<Config>().vault));
  REQUIRE(claim_to_writable, c.a[3].writable);
  REQUIRE(claim_to_program,
          same(*c.a[3].owner, token_program_key) && c.a[3].size == token_account_size);
  REQUIRE(claim_to_mint, same(c.a[3].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(claim_mint_writable, c.a[4].writable);
  REQUIRE(claim_mint_key, same(*c.a[4].key, c.a[0].as<Config>().mint));
  REQUIRE(claim_token_program_key, same(*c.a[5].key, token_program_key));
  return 0;
}

// A guardian stops posts and the challenge window, until a quorum decides. Claims against final
// roots and withdrawals continue.
namespace freeze_accounts {
enum : u64 { guardian, config };
}
FN u64 guard_freeze(Context& c) {
  REQUIRE(freeze_length, c.length == 1);
  REQUIRE(freeze_count, c.count >= 2);
  REQUIRE(freeze_config_writable, c.a[1].writable);
  REQUIRE(freeze_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(freeze_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(freeze_guardian_signer, c.a[0].signer);
  REQUIRE(freeze_guardian_key, is_guardian(c.a[1].as<Config>(), *c.a[0].key));
  return 0;
}

// A quorum of guardians, whose accounts follow the named ones, voids the pending root, ends the
// freeze, and names another posting key (32 zeros: the key stays).
namespace decide_accounts {
enum : u64 { config, mint, stake_vault, token_program };
}
FN u64 guard_decide(Context& c) {
  REQUIRE(decide_length, c.length == 35);
  REQUIRE(decide_count, c.count >= 4);
  REQUIRE(decide_config_writable, c.a[0].writable);
  REQUIRE(decide_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(decide_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(decide_mint_writable, c.a[1].writable);
  REQUIRE(decide_mint_key, same(*c.a[1].key, c.a[0].as<Config>().mint));
  REQUIRE(decide_stake_vault_writable, c.a[2].writable);
  REQUIRE(decide_stake_vault_key, same(*c.a[2].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(decide_token_program_key, same(*c.a[3].key, token_program_key));
  return 0;
}

// An owner names a device. The stake of the owner covers the receipts of the device.
namespace add_device_accounts {
enum : u64 { owner, config, device, system_program };
}
FN u64 guard_add_device(Context& c) {
  REQUIRE(add_device_length, c.length == 33);
  REQUIRE(add_device_count, c.count >= 4);
  REQUIRE(add_device_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(add_device_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(add_device_owner_signer, c.a[0].signer);
  REQUIRE(add_device_owner_writable, c.a[0].writable);
  REQUIRE(add_device_device_writable, c.a[2].writable);
  REQUIRE(add_device_system_program_key, same(*c.a[3].key, system_program_key));
  return 0;
}

// An owner ends a device. The stake of the owner covers the device until the evidence window is
// over.
namespace end_device_accounts {
enum : u64 { owner, config, device };
}
FN u64 guard_end_device(Context& c) {
  REQUIRE(end_device_length, c.length == 1);
  REQUIRE(end_device_count, c.count >= 3);
  REQUIRE(end_device_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(end_device_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(end_device_owner_signer, c.a[0].signer);
  REQUIRE(end_device_device_writable, c.a[2].writable);
  REQUIRE(end_device_device_program, same(*c.a[2].owner, *c.program));
  REQUIRE(end_device_device_kind, c.a[2].size == sizeof(Device) && c.a[2].data[0] == 4);
  REQUIRE(end_device_device_network, same(c.a[2].as<Device>().config, *c.a[1].key));
  return 0;
}

// Records a receipt of a device, which signed it in the Ed25519 instruction before this one.
namespace record_receipt_accounts {
enum : u64 { payer, config, device, receipt, instructions, system_program };
}
FN u64 guard_record_receipt(Context& c) {
  REQUIRE(record_receipt_length, c.length == 97);
  REQUIRE(record_receipt_count, c.count >= 6);
  REQUIRE(record_receipt_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(record_receipt_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(record_receipt_payer_signer, c.a[0].signer);
  REQUIRE(record_receipt_payer_writable, c.a[0].writable);
  REQUIRE(record_receipt_device_program, same(*c.a[2].owner, *c.program));
  REQUIRE(record_receipt_device_kind, c.a[2].size == sizeof(Device) && c.a[2].data[0] == 4);
  REQUIRE(record_receipt_device_network, same(c.a[2].as<Device>().config, *c.a[1].key));
  REQUIRE(record_receipt_receipt_writable, c.a[3].writable);
  REQUIRE(record_receipt_instructions_key, same(*c.a[4].key, instructions_key));
  REQUIRE(record_receipt_system_program_key, same(*c.a[5].key, system_program_key));
  return 0;
}

// Returns the lamports of a receipt after the evidence window.
namespace close_receipt_accounts {
enum : u64 { payer, config, receipt };
}
FN u64 guard_close_receipt(Context& c) {
  REQUIRE(close_receipt_length, c.length == 1);
  REQUIRE(close_receipt_count, c.count >= 3);
  REQUIRE(close_receipt_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(close_receipt_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(close_receipt_payer_signer, c.a[0].signer);
  REQUIRE(close_receipt_payer_writable, c.a[0].writable);
  REQUIRE(close_receipt_receipt_writable, c.a[2].writable);
  REQUIRE(close_receipt_receipt_program, same(*c.a[2].owner, *c.program));
  REQUIRE(close_receipt_receipt_kind, c.a[2].size == sizeof(Receipt) && c.a[2].data[0] == 5);
  REQUIRE(close_receipt_receipt_network, same(c.a[2].as<Receipt>().config, *c.a[1].key));
  return 0;
}

// Takes the whole stake of an owner whose device signed two results for one attempt of a task,
// also the part that is unbonding. Both signatures are in one Ed25519 instruction before this
// one. Siblings of 32 bytes follow: a's, then b's.
namespace slash_accounts {
enum : u64 { config, device, stake, mint, stake_vault, bounty_to, instructions, token_program };
}
FN u64 guard_slash(Context& c) {
  REQUIRE(slash_length, c.length >= 221 && (c.length - 221) % 32 == 0);
  REQUIRE(slash_count, c.count >= 8);
  REQUIRE(slash_config_writable, c.a[0].writable);
  REQUIRE(slash_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(slash_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(slash_device_program, same(*c.a[1].owner, *c.program));
  REQUIRE(slash_device_kind, c.a[1].size == sizeof(Device) && c.a[1].data[0] == 4);
  REQUIRE(slash_device_network, same(c.a[1].as<Device>().config, *c.a[0].key));
  REQUIRE(slash_stake_writable, c.a[2].writable);
  REQUIRE(slash_stake_program, same(*c.a[2].owner, *c.program));
  REQUIRE(slash_stake_kind, c.a[2].size == sizeof(Stake) && c.a[2].data[0] == 3);
  REQUIRE(slash_stake_network, same(c.a[2].as<Stake>().config, *c.a[0].key));
  REQUIRE(slash_mint_writable, c.a[3].writable);
  REQUIRE(slash_mint_key, same(*c.a[3].key, c.a[0].as<Config>().mint));
  REQUIRE(slash_stake_vault_writable, c.a[4].writable);
  REQUIRE(slash_stake_vault_key, same(*c.a[4].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(slash_bounty_to_writable, c.a[5].writable);
  REQUIRE(slash_bounty_to_program,
          same(*c.a[5].owner, token_program_key) && c.a[5].size == token_account_size);
  REQUIRE(slash_bounty_to_mint, same(c.a[5].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(slash_instructions_key, same(*c.a[6].key, instructions_key));
  REQUIRE(slash_token_program_key, same(*c.a[7].key, token_program_key));
  return 0;
}

// Records a leaf of the tree of an epoch in the ring, for evidence and answers. Siblings of 40
// bytes follow: hash, amount.
namespace show_leaf_accounts {
enum : u64 { payer, config, leaf, system_program };
}
FN u64 guard_show_leaf(Context& c) {
  REQUIRE(show_leaf_length, c.length >= 67 && (c.length - 67) % 40 == 0);
  REQUIRE(show_leaf_count, c.count >= 4);
  REQUIRE(show_leaf_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(show_leaf_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(show_leaf_payer_signer, c.a[0].signer);
  REQUIRE(show_leaf_payer_writable, c.a[0].writable);
  REQUIRE(show_leaf_leaf_writable, c.a[2].writable);
  REQUIRE(show_leaf_system_program_key, same(*c.a[3].key, system_program_key));
  return 0;
}

// Returns the lamports of a shown leaf.
namespace close_leaf_accounts {
enum : u64 { payer, config, leaf };
}
FN u64 guard_close_leaf(Context& c) {
  REQUIRE(close_leaf_length, c.length == 1);
  REQUIRE(close_leaf_count, c.count >= 3);
  REQUIRE(close_leaf_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(close_leaf_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(close_leaf_payer_signer, c.a[0].signer);
  REQUIRE(close_leaf_payer_writable, c.a[0].writable);
  REQUIRE(close_leaf_leaf_writable, c.a[2].writable);
  REQUIRE(close_leaf_leaf_program, same(*c.a[2].owner, *c.program));
  REQUIRE(close_leaf_leaf_kind, c.a[2].size == sizeof(Shown) && c.a[2].data[0] == 6);
  REQUIRE(close_leaf_leaf_network, same(c.a[2].as<Shown>().config, *c.a[1].key));
  return 0;
}

// Voids the pending root because it gives an owner less than the coordinator signed for its
// epoch or an earlier one (in the Ed25519 instruction before this one).
namespace prove_less_accounts {
enum : u64 { config, leaf, mint, stake_vault, bounty_to, instructions, token_program };
}
FN u64 guard_prove_less(Context& c) {
  REQUIRE(prove_less_length, c.length == 26);
  REQUIRE(prove_less_count, c.count >= 7);
  REQUIRE(prove_less_config_writable, c.a[0].writable);
  REQUIRE(prove_less_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(prove_less_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(prove_less_leaf_program, same(*c.a[1].owner, *c.program));
  REQUIRE(prove_less_leaf_kind, c.a[1].size == sizeof(Shown) && c.a[1].data[0] == 6);
  REQUIRE(prove_less_leaf_network, same(c.a[1].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_less_mint_writable, c.a[2].writable);
  REQUIRE(prove_less_mint_key, same(*c.a[2].key, c.a[0].as<Config>().mint));
  REQUIRE(prove_less_stake_vault_writable, c.a[3].writable);
  REQUIRE(prove_less_stake_vault_key, same(*c.a[3].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(prove_less_bounty_to_writable, c.a[4].writable);
  REQUIRE(prove_less_bounty_to_program,
          same(*c.a[4].owner, token_program_key) && c.a[4].size == token_account_size);
  REQUIRE(prove_less_bounty_to_mint, same(c.a[4].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(prove_less_instructions_key, same(*c.a[5].key, instructions_key));
  REQUIRE(prove_less_token_program_key, same(*c.a[6].key, token_program_key));
  return 0;
}

// Voids the pending root because it omits an owner for whom the coordinator signed an amount.
// The evidence is two neighbours between which the owner would be, or the leaf at an end, given
// twice.
namespace prove_missing_accounts {
enum : u64 { config, left, right, mint, stake_vault, bounty_to, instructions, token_program };
}
FN u64 guard_prove_missing(Context& c) {
  REQUIRE(prove_missing_length, c.length == 58);
  REQUIRE(prove_missing_count, c.count >= 8);
  REQUIRE(prove_missing_config_writable, c.a[0].writable);
  REQUIRE(prove_missing_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(prove_missing_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(prove_missing_left_program, same(*c.a[1].owner, *c.program));
  REQUIRE(prove_missing_left_kind, c.a[1].size == sizeof(Shown) && c.a[1].data[0] == 6);
  REQUIRE(prove_missing_left_network, same(c.a[1].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_missing_right_program, same(*c.a[2].owner, *c.program));
  REQUIRE(prove_missing_right_kind, c.a[2].size == sizeof(Shown) && c.a[2].data[0] == 6);
  REQUIRE(prove_missing_right_network, same(c.a[2].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_missing_mint_writable, c.a[3].writable);
  REQUIRE(prove_missing_mint_key, same(*c.a[3].key, c.a[0].as<Config>().mint));
  REQUIRE(prove_missing_stake_vault_writable, c.a[4].writable);
  REQUIRE(prove_missing_stake_vault_key, same(*c.a[4].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(prove_missing_bounty_to_writable, c.a[5].writable);
  REQUIRE(prove_missing_bounty_to_program,
          same(*c.a[5].owner, token_program_key) && c.a[5].size == token_account_size);
  REQUIRE(prove_missing_bounty_to_mint, same(c.a[5].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(prove_missing_instructions_key, same(*c.a[6].key, instructions_key));
  REQUIRE(prove_missing_token_program_key, same(*c.a[7].key, token_program_key));
  return 0;
}

// Voids the pending root because two of its leaves are out of order or have the same owner or
// index, or because an empty place is before a filled one.
namespace prove_order_accounts {
enum : u64 { config, left, right, mint, stake_vault, bounty_to, token_program };
}
FN u64 guard_prove_order(Context& c) {
  REQUIRE(prove_order_length, c.length == 2);
  REQUIRE(prove_order_count, c.count >= 7);
  REQUIRE(prove_order_config_writable, c.a[0].writable);
  REQUIRE(prove_order_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(prove_order_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(prove_order_left_program, same(*c.a[1].owner, *c.program));
  REQUIRE(prove_order_left_kind, c.a[1].size == sizeof(Shown) && c.a[1].data[0] == 6);
  REQUIRE(prove_order_left_network, same(c.a[1].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_order_right_program, same(*c.a[2].owner, *c.program));
  REQUIRE(prove_order_right_kind, c.a[2].size == sizeof(Shown) && c.a[2].data[0] == 6);
  REQUIRE(prove_order_right_network, same(c.a[2].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_order_mint_writable, c.a[3].writable);
  REQUIRE(prove_order_mint_key, same(*c.a[3].key, c.a[0].as<Config>().mint));
  REQUIRE(prove_order_stake_vault_writable, c.a[4].writable);
  REQUIRE(prove_order_stake_vault_key, same(*c.a[4].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(prove_order_bounty_to_writable, c.a[5].writable);
  REQUIRE(prove_order_bounty_to_program,
          same(*c.a[5].owner, token_program_key) && c.a[5].size == token_account_size);
  REQUIRE(prove_order_bounty_to_mint, same(c.a[5].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(prove_order_token_program_key, same(*c.a[6].key, token_program_key));
  return 0;
}

// Voids the pending root because the sum of a node is not the sum of its children. Siblings of
// 40 bytes follow, from that node up.
namespace prove_sum_accounts {
enum : u64 { config, mint, stake_vault, bounty_to, token_program };
}
FN u64 guard_prove_sum(Context& c) {
  REQUIRE(prove_sum_length, c.length >= 98 && (c.length - 98) % 40 == 0);
  REQUIRE(prove_sum_count, c.count >= 5);
  REQUIRE(prove_sum_config_writable, c.a[0].writable);
  REQUIRE(prove_sum_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(prove_sum_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(prove_sum_mint_writable, c.a[1].writable);
  REQUIRE(prove_sum_mint_key, same(*c.a[1].key, c.a[0].as<Config>().mint));
  REQUIRE(prove_sum_stake_vault_writable, c.a[2].writable);
  REQUIRE(prove_sum_stake_vault_key, same(*c.a[2].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(prove_sum_bounty_to_writable, c.a[3].writable);
  REQUIRE(prove_sum_bounty_to_program,
          same(*c.a[3].owner, token_program_key) && c.a[3].size == token_account_size);
  REQUIRE(prove_sum_bounty_to_mint, same(c.a[3].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(prove_sum_token_program_key, same(*c.a[4].key, token_program_key));
  return 0;
}

// Demands the path of an owner in the pending root. Without an answer within a challenge window
// the root can be voided. An answer is paid with `demand_lamports`.
namespace demand_accounts {
enum : u64 { payer, config, demand, system_program };
}
FN u64 guard_demand(Context& c) {
  REQUIRE(demand_length, c.length == 34);
  REQUIRE(demand_count, c.count >= 4);
  REQUIRE(demand_config_writable, c.a[1].writable);
  REQUIRE(demand_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(demand_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(demand_payer_signer, c.a[0].signer);
  REQUIRE(demand_payer_writable, c.a[0].writable);
  REQUIRE(demand_demand_writable, c.a[2].writable);
  REQUIRE(demand_system_program_key, same(*c.a[3].key, system_program_key));
  return 0;
}

// Answers a demand with a shown leaf of its owner (given twice), or with the neighbours between
// which the owner would be.
namespace answer_accounts {
enum : u64 { answerer, config, demand, left, right };
}
FN u64 guard_answer(Context& c) {
  REQUIRE(answer_length, c.length == 2);
  REQUIRE(answer_count, c.count >= 5);
  REQUIRE(answer_config_writable, c.a[1].writable);
  REQUIRE(answer_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(answer_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(answer_answerer_signer, c.a[0].signer);
  REQUIRE(answer_answerer_writable, c.a[0].writable);
  REQUIRE(answer_demand_writable, c.a[2].writable);
  REQUIRE(answer_demand_program, same(*c.a[2].owner, *c.program));
  REQUIRE(answer_demand_kind, c.a[2].size == sizeof(Demand) && c.a[2].data[0] == 7);
  REQUIRE(answer_demand_network, same(c.a[2].as<Demand>().config, *c.a[1].key));
  REQUIRE(answer_left_program, same(*c.a[3].owner, *c.program));
  REQUIRE(answer_left_kind, c.a[3].size == sizeof(Shown) && c.a[3].data[0] == 6);
  REQUIRE(answer_left_network, same(c.a[3].as<Shown>().config, *c.a[1].key));
  REQUIRE(answer_right_program, same(*c.a[4].owner, *c.program));
  REQUIRE(answer_right_kind, c.a[4].size == sizeof(Shown) && c.a[4].data[0] == 6);
  REQUIRE(answer_right_network, same(c.a[4].as<Shown>().config, *c.a[1].key));
  return 0;
}

// Voids the pending root after an unanswered demand, or closes a demand if its root is no longer
// pending. Any account may call it. The lamports of the demand go back to the account that paid
// for it.
namespace void_unanswered_accounts {
enum : u64 { payer, config, demand, mint, stake_vault, bounty_to, token_program };
}
FN u64 guard_void_unanswered(Context& c) {
  REQUIRE(void_unanswered_length, c.length == 1);
  REQUIRE(void_unanswered_count, c.count >= 7);
  REQUIRE(void_unanswered_config_writable, c.a[1].writable);
  REQUIRE(void_unanswered_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(void_unanswered_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(void_unanswered_payer_writable, c.a[0].writable);
  REQUIRE(void_unanswered_demand_writable, c.a[2].writable);
  REQUIRE(void_unanswered_demand_program, same(*c.a[2].owner, *c.program));
  REQUIRE(void_unanswered_demand_kind, c.a[2].size == sizeof(Demand) && c.a[2].data[0] == 7);
  REQUIRE(void_unanswered_demand_network, same(c.a[2].as<Demand>().config, *c.a[1].key));
  REQUIRE(void_unanswered_mint_writable, c.a[3].writable);
  REQUIRE(void_unanswered_mint_key, same(*c.a[3].key, c.a[1].as<Config>().mint));
  REQUIRE(void_unanswered_stake_vault_writable, c.a[4].writable);
  REQUIRE(void_unanswered_stake_vault_key, same(*c.a[4].key, c.a[1].as<Config>().stake_vault));
  REQUIRE(void_unanswered_bounty_to_writable, c.a[5].writable);
  REQUIRE(void_unanswered_bounty_to_program,
          same(*c.a[5].owner, token_program_key) && c.a[5].size == token_account_size);
  REQUIRE(void_unanswered_bounty_to_mint, same(c.a[5].token_mint(), c.a[1].as<Config>().mint));
  REQUIRE(void_unanswered_token_program_key, same(*c.a[6].key, token_program_key));
  return 0;
}

// Voids the pending root because it takes from an owner an amount that the last final root gave.
// The evidence is the shown leaf of the owner in the final root and, in the pending root, the
// leaf of the owner (given twice) with less or another index, or the two neighbours between
// which the owner would be.
namespace prove_fell_accounts {
enum : u64 { config, before, left, right, mint, stake_vault, bounty_to, token_program };
}
FN u64 guard_prove_fell(Context& c) {
  REQUIRE(prove_fell_length, c.length == 2);
  REQUIRE(prove_fell_count, c.count >= 8);
  REQUIRE(prove_fell_config_writable, c.a[0].writable);
  REQUIRE(prove_fell_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(prove_fell_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(prove_fell_before_program, same(*c.a[1].owner, *c.program));
  REQUIRE(prove_fell_before_kind, c.a[1].size == sizeof(Shown) && c.a[1].data[0] == 6);
  REQUIRE(prove_fell_before_network, same(c.a[1].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_fell_left_program, same(*c.a[2].owner, *c.program));
  REQUIRE(prove_fell_left_kind, c.a[2].size == sizeof(Shown) && c.a[2].data[0] == 6);
  REQUIRE(prove_fell_left_network, same(c.a[2].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_fell_right_program, same(*c.a[3].owner, *c.program));
  REQUIRE(prove_fell_right_kind, c.a[3].size == sizeof(Shown) && c.a[3].data[0] == 6);
  REQUIRE(prove_fell_right_network, same(c.a[3].as<Shown>().config, *c.a[0].key));
  REQUIRE(prove_fell_mint_writable, c.a[4].writable);
  REQUIRE(prove_fell_mint_key, same(*c.a[4].key, c.a[0].as<Config>().mint));
  REQUIRE(prove_fell_stake_vault_writable, c.a[5].writable);
  REQUIRE(prove_fell_stake_vault_key, same(*c.a[5].key, c.a[0].as<Config>().stake_vault));
  REQUIRE(prove_fell_bounty_to_writable, c.a[6].writable);
  REQUIRE(prove_fell_bounty_to_program,
          same(*c.a[6].owner, token_program_key) && c.a[6].size == token_account_size);
  REQUIRE(prove_fell_bounty_to_mint, same(c.a[6].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(prove_fell_token_program_key, same(*c.a[7].key, token_program_key));
  return 0;
}

// Proposes a change of a parameter or a key, or a payment of the treasury. The total of stakes
// is recorded.
namespace propose_accounts {
enum : u64 { owner, config, stake, proposal, system_program };
}
FN u64 guard_propose(Context& c) {
  REQUIRE(propose_length, c.length == 43);
  REQUIRE(propose_count, c.count >= 5);
  REQUIRE(propose_config_writable, c.a[1].writable);
  REQUIRE(propose_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(propose_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(propose_owner_signer, c.a[0].signer);
  REQUIRE(propose_owner_writable, c.a[0].writable);
  REQUIRE(propose_stake_program, same(*c.a[2].owner, *c.program));
  REQUIRE(propose_stake_kind, c.a[2].size == sizeof(Stake) && c.a[2].data[0] == 3);
  REQUIRE(propose_stake_network, same(c.a[2].as<Stake>().config, *c.a[1].key));
  REQUIRE(propose_proposal_writable, c.a[3].writable);
  REQUIRE(propose_system_program_key, same(*c.a[4].key, system_program_key));
  return 0;
}

// Votes with a whole stake, which is locked until the end of the vote and gets its part of the
// reward.
namespace vote_accounts {
enum : u64 { owner, config, stake, proposal, vote, system_program };
}
FN u64 guard_vote(Context& c) {
  REQUIRE(vote_length, c.length == 2);
  REQUIRE(vote_count, c.count >= 6);
  REQUIRE(vote_config_program, same(*c.a[1].owner, *c.program));
  REQUIRE(vote_config_kind, c.a[1].size == sizeof(Config) && c.a[1].data[0] == 1);
  REQUIRE(vote_owner_signer, c.a[0].signer);
  REQUIRE(vote_owner_writable, c.a[0].writable);
  REQUIRE(vote_stake_writable, c.a[2].writable);
  REQUIRE(vote_stake_program, same(*c.a[2].owner, *c.program));
  REQUIRE(vote_stake_kind, c.a[2].size == sizeof(Stake) && c.a[2].data[0] == 3);
  REQUIRE(vote_stake_network, same(c.a[2].as<Stake>().config, *c.a[1].key));
  REQUIRE(vote_proposal_writable, c.a[3].writable);
  REQUIRE(vote_proposal_program, same(*c.a[3].owner, *c.program));
  REQUIRE(vote_proposal_kind, c.a[3].size == sizeof(Proposal) && c.a[3].data[0] == 8);
  REQUIRE(vote_proposal_network, same(c.a[3].as<Proposal>().config, *c.a[1].key));
  REQUIRE(vote_vote_writable, c.a[4].writable);
  REQUIRE(vote_system_program_key, same(*c.a[5].key, system_program_key));
  return 0;
}

// Carries out a proposal after the delay, if it has the quorum and the majority.
namespace execute_accounts {
enum : u64 { config, proposal, treasury, to, token_program };
}
FN u64 guard_execute(Context& c) {
  REQUIRE(execute_length, c.length == 1);
  REQUIRE(execute_count, c.count >= 5);
  REQUIRE(execute_config_writable, c.a[0].writable);
  REQUIRE(execute_config_program, same(*c.a[0].owner, *c.program));
  REQUIRE(execute_config_kind, c.a[0].size == sizeof(Config) && c.a[0].data[0] == 1);
  REQUIRE(execute_proposal_writable, c.a[1].writable);
  REQUIRE(execute_proposal_program, same(*c.a[1].owner, *c.program));
  REQUIRE(execute_proposal_kind, c.a[1].size == sizeof(Proposal) && c.a[1].data[0] == 8);
  REQUIRE(execute_proposal_network, same(c.a[1].as<Proposal>().config, *c.a[0].key));
  REQUIRE(execute_treasury_writable, c.a[2].writable);
  REQUIRE(execute_treasury_key, same(*c.a[2].key, c.a[0].as<Config>().treasury));
  REQUIRE(execute_to_writable, c.a[3].writable);
  REQUIRE(execute_to_program,
          same(*c.a[3].owner, token_program_key) && c.a[3].size == token_account_size);
  REQUIRE(execute_to_mint, same(c.a[3].token_mint(), c.a[0].as<Config>().mint));
  REQUIRE(execute_token_program_key, same(*c.a[4].key, token_program_key));
  return 0;
}

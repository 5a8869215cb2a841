/** Every function but `health`, in the order of the article's six steps. */
// 1, 2  An application's order becomes an order and its state record.
import './submit/submit.function.js';
// 3     The starter claims what is pending and starts an attempt.
import './scheduler/starter.function.js';
// 4     The orchestrator runs the attempt: advance, await the agent's reply against a durable timer.
import './scheduler/orchestration.function.js';
// 5     Agents call their remote services; their replies come back to the attempt.
import './agents/agents.function.js';
import './scheduler/agent-reply.function.js';
// 6     The supervisor finds attempts whose time is up and asks for their recovery.
import './supervisor/supervisor.function.js';
// Operators look and act; demonstrations have simulated remote services.
import './operator/operator.function.js';
import './demo/demo.function.js';

// A monthly budget of the resource group: mails at 50, 75 and 90 per cent of it and when the forecast exceeds it.

param name string
param amount int
@description('First day of a month. It cannot be changed once the budget exists.')
param startDate string
param emails string[]
@description('Mailed as well, so that a budget without addresses still tells somebody.')
param contactRoles string[]

var notices = [
  { threshold: 50, type: 'Actual' }
  { threshold: 75, type: 'Actual' }
  { threshold: 90, type: 'Actual' }
  { threshold: 100, type: 'Forecasted' }
]

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = {
  name: name
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: startDate }
    notifications: toObject(notices, notice => '${notice.type}${notice.threshold}', notice => {
      enabled: true
      operator: 'GreaterThanOrEqualTo'
      threshold: notice.threshold
      thresholdType: notice.type
      contactEmails: emails
      contactRoles: contactRoles
    })
  }
}
